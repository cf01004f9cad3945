//! Sessions of a real Chromium in the host's process with a real agent. `cargo xtask test` runs them; by
//! hand `cargo test` in this folder, after `cargo xtask setup` and `cargo build -p sgclaw-cli`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};

const CEF_HOST: &str = env!("CARGO_BIN_EXE_cef_host");
const ACK: &str = r#"{"type":"init_ack","version":"1.0","agent_id":"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b","supported_actions":["click"]}"#;
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn an_agent_logs_in() {
    let site = Site::start();
    let (mine, other) = (site.url("127.0.0.1", "/login"), site.url("localhost", "/frame"));
    let ended = Session::new(&site.url("127.0.0.1", "/")).play(&[
        step("navigate", json!({"url": mine}), json!({"url": mine, "status": 200})),
        step("waitFor", json!({"selector": "#login"}), json!({})),
        step("type", json!({"selector": "#user", "text": "张三"}), json!({})),
        step("type", json!({"selector": "#password", "text": "correct horse"}), json!({})),
        refused("getAttribute", json!({"selector": "#password", "name": "value"}), "MAC_ACTION_DENIED"),
        step("hover", json!({"selector": "#login"}), json!({})),
        step("click", json!({"selector": "#login"}), json!({"navigation": "committed"})),
        step("getText", json!({"selector": "#greeting"}), json!({"text": "你好，张三 (trusted)"})),
        step("screenshot", json!({}), json!({"format": "png", "width": 1280, "height": 900})),
        step("screenshot", json!({"selector": "#box", "format": "jpeg"}), json!({"width": 120, "height": 80})),
        step("select", json!({"selector": "select", "value": "b"}), json!({"values": ["b"]})),
        step("click", json!({"selector": "#alert"}), json!({"dialogs": [{"type": "alert", "message": "hm"}]})),
        step("goBack", json!({}), json!({"url": mine})),
        // A frame of another site is another process, and a session below the page's.
        step("navigate", json!({"url": site.url("127.0.0.1", "/around")}), json!({"status": 200})),
        // Chromium routes input by what it has drawn; a picture waits for that.
        step("screenshot", json!({}), json!({"format": "png"})),
        json!({"action": "click", "params": {"selector": "button", "frame": ["iframe"]}, "expected_domain": "localhost"}),
        json!({"action": "getText", "params": {"selector": "button", "frame": ["iframe"]},
               "expected_domain": "localhost", "expect": {"data": {"text": other}}}),
    ]);
    ended.assert_as_expected();
    let stages = ["received", "verified", "authorized", "dispatched", "completed", "responded"];
    assert_eq!(ended.stages(7), stages);
}

#[test]
fn what_leads_away_from_the_page_is_refused() {
    let site = Site::start();
    let page = site.url("127.0.0.1", "/away");
    let began = Instant::now();
    let ended = Session::new(&page).play(&[
        step("click", json!({"selector": "#window"}), json!({})),
        step("click", json!({"selector": "#blank"}), json!({})),
        failed(
            "navigate",
            json!({"url": site.url("127.0.0.1", "/download")}),
            "CMD_NAVIGATION_FAILED",
            "download",
        ),
        refused("navigate", json!({"url": site.url("127.0.0.1", "/redirect")}), "MAC_DOMAIN_DENIED"),
        refused("navigate", json!({"url": "http://localhost:1/"}), "MAC_DOMAIN_MISMATCH"),
        step("listTabs", json!({}), json!({})),
    ]);
    ended.assert_as_expected();
    assert!(began.elapsed() < PATIENCE, "nothing waits for a window that never comes");
}

#[test]
fn the_page_lives_in_the_tree_of_the_host_and_a_signal_ends_all_of_it() {
    let site = Site::start();
    let session = Session::new(&site.url("127.0.0.1", "/"));
    let running = session.start(&sh("read init; echo $ACK; exec sleep 1000"));
    running.wait_for("Running");
    let host = running.id();
    for renderer in running.renderers() {
        assert_eq!(fs::read_link(renderer.join("exe")).unwrap(), Path::new(CEF_HOST).canonicalize().unwrap());
        assert!(ancestors(&renderer).contains(&host));
    }
    assert!(
        !arguments(&PathBuf::from(format!("/proc/{host}"))).contains("--type="),
        "the host is the browser"
    );

    // Chromium is full of descriptors that an untrusted process must not have.
    let agent = running.process("sleep");
    assert_eq!(ancestors(&agent).first(), Some(&host));
    for descriptor in fs::read_dir(agent.join("fd")).unwrap().map(|entry| entry.unwrap()) {
        let name = descriptor.file_name().into_string().unwrap();
        // Some were open in whatever runs the tests.
        let ours = fs::read_link(format!("/proc/self/fd/{name}"));
        let inherited = ours.is_ok_and(|ours| fs::read_link(descriptor.path()).is_ok_and(|its| its == ours));
        assert!(["0", "1", "2"].contains(&name.as_str()) || inherited, "descriptor {name}");
    }

    signal(host, Signal::SIGTERM);
    let ended = running.end();
    ended.assert_ended(0, "Stopped", Value::Null);
    assert!(ended.stderr.contains("a signal asks to stop"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_is_killed_takes_its_command_and_the_browser_along() {
    let site = Site::start();
    let session = Session::new(&site.url("127.0.0.1", "/"));
    let script = session.script(&[step("waitFor", json!({"selector": "#never"}), json!({}))]);
    let running = session.start(&reference(&script));
    running.wait_for("Running");
    running.wait_for_trace("dispatched");
    signal(id_of(&running.process("agent")), Signal::SIGKILL);
    let ended = running.end();
    ended.assert_ended(3, "Crashed", json!("PIPE_CLOSED"));
    assert!(ended.stderr.contains("was ended by signal 9"), "{}", ended.stderr);
    assert_eq!(ended.stages(1).last(), Some(&"cancelled"));
}

#[test]
fn a_page_that_closes_fails_the_command_and_every_later_one() {
    let site = Site::start();
    let ended = Session::new(&site.url("127.0.0.1", "/closes")).play(&[
        refused("waitFor", json!({"selector": "#never"}), "INTERNAL_EXECUTOR_GONE"),
        refused("click", json!({"selector": "p"}), "INTERNAL_EXECUTOR_GONE"),
    ]);
    ended.assert_as_expected();
    assert!(ended.stages(1).contains(&"dispatched"));
}

#[test]
fn a_renderer_that_dies_is_told_and_navigate_brings_the_page_back() {
    let site = Site::start();
    let session = Session::new(&site.url("127.0.0.1", "/"));
    let login = site.url("127.0.0.1", "/login");
    let script = session.script(&[
        refused("waitFor", json!({"selector": "#never"}), "CMD_PAGE_CRASHED"),
        refused("getText", json!({"selector": "h1"}), "CMD_PAGE_CRASHED"),
        step("navigate", json!({"url": login}), json!({"status": 200})),
        step("getText", json!({"selector": "h1"}), json!({"text": "登录"})),
    ]);
    let running = session.start(&reference(&script));
    running.wait_for_trace("dispatched");
    for renderer in running.renderers() {
        signal(id_of(&renderer), Signal::SIGKILL);
    }
    running.end().assert_as_expected();
}

#[test]
fn an_agent_with_another_key_is_refused_before_the_page_sees_anything() {
    let site = Site::start();
    let session = Session::new(&site.url("127.0.0.1", "/login"));
    let script = session.script(&[refused("click", json!({"selector": "#login"}), "PIPE_HMAC_INVALID")]);
    let mut agent = reference(&script);
    agent.extend(["--key-derivation".to_owned(), "seed".to_owned()]);
    let ended = session.start(&agent).end();
    ended.assert_as_expected();
    assert_eq!(ended.stages(1), ["received", "rejected"]);
}

#[test]
fn what_cannot_work_is_told_with_the_status_of_the_command() {
    let ended = Session::new("not a URL").start(&sh("true")).end();
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    let ended = Session::new("http://127.0.0.1:1/").start(&["/no/such/agent".to_owned()]).end();
    ended.assert_ended(3, "Crashed", json!("PIPE_CLOSED"));
}

// ---- sessions ----

struct Session {
    folder: tempfile::TempDir,
    url: String,
}

struct Running<'a> {
    session: &'a Session,
    child: Child,
    stderr: Option<thread::JoinHandle<String>>,
}

struct Ended {
    status: Option<i32>,
    stderr: String,
    trace: Vec<Value>,
}

impl Session {
    fn new(url: &str) -> Self {
        Session { folder: tempfile::tempdir().unwrap(), url: url.to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The processes that carry the mark in their environment or, where Chromium has written over that,
    /// in the name of the profile.
    fn processes(&self) -> Vec<PathBuf> {
        let mark = self.folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let marked = |process: &PathBuf| {
            ["environ", "cmdline"].iter().any(|file| {
                let text = fs::read(process.join(file)).unwrap_or_default();
                String::from_utf8_lossy(&text).contains(&mark)
            })
        };
        fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(marked).collect()
    }

    fn script(&self, steps: &[Value]) -> String {
        let path = self.path("script.jsonl");
        fs::write(&path, steps.iter().map(|step| format!("{step}\n")).collect::<String>()).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn start(&self, agent: &[String]) -> Running<'_> {
        let temporary = self.path("tmp");
        fs::create_dir_all(&temporary).unwrap();
        let mut child = Command::new(CEF_HOST)
            .args(["--url", &self.url, "--trace"])
            .arg(self.path("trace.jsonl"))
            .arg("--")
            .args(agent)
            // Where the profile goes, so that what is left of it can be seen; and what marks the processes.
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stderr, copy) = (child.stderr.take().unwrap(), self.path("stderr"));
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            for line in BufReader::new(stderr).lines() {
                text += &format!("{}\n", line.unwrap());
                fs::write(&copy, &text).unwrap();
            }
            text
        });
        Running { session: self, child, stderr: Some(stderr) }
    }

    /// A session with the reference agent and this script.
    fn play(&self, steps: &[Value]) -> Ended {
        self.start(&reference(&self.script(steps))).end()
    }
}

impl Running<'_> {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait_for(&self, word: &str) {
        eventually(|| fs::read_to_string(self.session.path("stderr")).ok()?.contains(word).then_some(()));
    }

    fn wait_for_trace(&self, stage: &str) {
        let stage = format!("\"stage\":\"{stage}\"");
        eventually(|| {
            fs::read_to_string(self.session.path("trace.jsonl")).ok()?.contains(&stage).then_some(())
        });
    }

    /// A process of this session, apart from the host, with this argument.
    fn process(&self, argument: &str) -> PathBuf {
        let it = |process: &PathBuf| {
            id_of(process) != self.id() && arguments(process).split('\0').any(|word| word == argument)
        };
        eventually(|| self.session.processes().into_iter().find(it))
    }

    /// The renderers: the children of Chromium's sandboxed zygote, whose arguments they keep.
    fn renderers(&self) -> Vec<PathBuf> {
        let zygote = |id: u32| {
            let arguments = arguments(&PathBuf::from(format!("/proc/{id}")));
            arguments.contains("--type=zygote") && !arguments.contains("--no-zygote-sandbox")
        };
        let it = |process: &PathBuf| ancestors(process).first().is_some_and(|parent| zygote(*parent));
        eventually(|| {
            let found: Vec<_> = self.session.processes().into_iter().filter(it).collect();
            (!found.is_empty()).then_some(found)
        })
    }

    fn end(mut self) -> Ended {
        let until = Instant::now() + PATIENCE * 2;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > until {
                panic!("the host did not end:\n{}", fs::read_to_string(self.session.path("stderr")).unwrap());
            }
            thread::sleep(Duration::from_millis(10));
        };
        let stderr = self.stderr.take().unwrap().join().unwrap();
        // Chromium's helpers see the end of the browser and go by themselves, a moment later.
        eventually(|| self.session.processes().is_empty().then_some(()));
        let left: Vec<_> = fs::read_dir(self.session.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "left behind: {left:?}\n{stderr}");
        let trace = fs::read_to_string(self.session.path("trace.jsonl")).unwrap_or_default();
        let trace = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Ended { status: status.code(), stderr, trace }
    }
}

/// A test that fails leaves no browser behind.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Ended {
    #[track_caller]
    fn assert_ended(&self, status: i32, state: &str, code: Value) {
        let last: Value = serde_json::from_str(self.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(
            (self.status, &last["state"], &last["code"]),
            (Some(status), &json!(state), &code),
            "{}",
            self.stderr
        );
        assert!(!last["message"].as_str().unwrap().is_empty());
    }

    /// The reference agent exits with 0 only where each step went as its script expects.
    #[track_caller]
    fn assert_as_expected(&self) {
        self.assert_ended(0, "Stopped", Value::Null);
    }

    fn stages(&self, seq: u64) -> Vec<&str> {
        let of_seq = self.trace.iter().filter(|record| record["seq"] == seq);
        of_seq.map(|record| record["stage"].as_str().unwrap()).collect()
    }
}

fn step(action: &str, params: Value, data: Value) -> Value {
    json!({"action": action, "params": params, "expected_domain": "127.0.0.1", "expect": {"data": data}})
}

fn refused(action: &str, params: Value, code: &str) -> Value {
    json!({"action": action, "params": params, "expected_domain": "127.0.0.1", "expect": {"code": code}})
}

fn failed(action: &str, params: Value, code: &str, reason: &str) -> Value {
    json!({"action": action, "params": params, "expected_domain": "127.0.0.1",
           "expect": {"code": code, "reason": reason}})
}

/// The reference agent, which lies beside the host where both were built.
fn reference(script: &str) -> Vec<String> {
    let sgclaw = Path::new(CEF_HOST).with_file_name("sgclaw");
    assert!(sgclaw.exists(), "there is no {}: cargo build -p sgclaw-cli", sgclaw.display());
    [&*sgclaw.to_string_lossy(), "agent", "--script", script].map(str::to_owned).into()
}

fn sh(script: &str) -> Vec<String> {
    ["sh".to_owned(), "-c".to_owned(), script.replace("$ACK", &format!("'{ACK}'"))].into()
}

// ---- processes ----

#[track_caller]
fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it did not come to pass");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(process: u32, signal: Signal) {
    kill(Pid::from_raw(process.cast_signed()), signal).unwrap();
}

fn id_of(process: &Path) -> u32 {
    process.file_name().unwrap().to_string_lossy().parse().unwrap()
}

fn arguments(process: &Path) -> String {
    String::from_utf8_lossy(&fs::read(process.join("cmdline")).unwrap_or_default()).into_owned()
}

/// The parent of a process, the parent's parent and so on.
fn ancestors(process: &Path) -> Vec<u32> {
    let parent = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // `pid (name) state ppid …`; the name may hold anything.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok().filter(|id| *id > 0)
    };
    std::iter::successors(parent(&id_of(process)), parent).collect()
}

// ---- pages ----

/// `127.0.0.1` and `localhost` are two sites to a browser, and one server here.
struct Site {
    server: Arc<Server>,
    port: u16,
    thread: Option<thread::JoinHandle<()>>,
}

impl Site {
    fn start() -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let port = server.server_addr().to_ip().unwrap().port();
        let serving = Arc::clone(&server);
        let thread = thread::spawn(move || {
            for request in serving.incoming_requests() {
                answer(request, port);
            }
        });
        Site { server, port, thread: Some(thread) }
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn answer(request: Request, port: u16) {
    let response = match request.url().split('?').next().unwrap_or_default() {
        "/" => page("<h1>here</h1>"),
        "/login" => page(LOGIN),
        "/desk" => page(DESK),
        "/around" => page(&format!("<iframe src='http://localhost:{port}/frame'></iframe>")),
        "/frame" => page("<button onclick='this.textContent = location.href'>where?</button>"),
        "/away" => page(AWAY),
        "/closes" => page("<p>bye</p><script>setTimeout(() => window.close(), 1500)</script>"),
        "/redirect" => Response::from_string("")
            .with_status_code(302)
            .with_header(header("Location", "https://elsewhere.example/")),
        "/download" => Response::from_string("data")
            .with_header(header("Content-Type", "application/octet-stream"))
            .with_header(header("Content-Disposition", "attachment; filename=\"report.bin\"")),
        _ => Response::from_string("no such page").with_status_code(404),
    };
    let _the_page_may_be_gone = request.respond(response);
}

fn page(html: &str) -> Response<std::io::Cursor<Vec<u8>>> {
    let html = format!("<!doctype html><meta charset=utf-8>{html}");
    Response::from_string(html).with_header(header("Content-Type", "text/html; charset=utf-8"))
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).unwrap()
}

const LOGIN: &str = r#"<title>login</title><h1>登录</h1>
<form action="/desk"><input id="user" name="user"><input id="password" type="password">
<input type="hidden" name="how" id="how"><button id="login">Log in</button></form>
<script>login.onclick = event => { how.value = event.isTrusted ? "trusted" : "made up" }</script>"#;

const DESK: &str = r#"<title>desk</title><h1 id="greeting"></h1>
<div id="box" style="width: 120px; height: 80px; background: teal"></div>
<select><option value="a">a<option value="b">b</select><button id="alert" onclick="alert('hm')">!</button>
<script>
const query = new URLSearchParams(location.search);
greeting.textContent = `你好，${query.get("user")} (${query.get("how")})`;
</script>"#;

const AWAY: &str = r#"<title>away</title><button id="window" onclick="window.open('/')">window</button>
<a id="blank" href="/" target="_blank">tab</a>"#;
