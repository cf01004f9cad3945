//! `sgclaw demo`: the main job on a real browser, with everything it needs.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use sgclaw::pipe::TraceRecord;
use sgclaw::{HostSettings, Policy, State, WhatwgUrlParser};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::host::{self, BrowserArguments, TraceFile};
use crate::session::{Confirm, Observer};
use crate::trace_view;
use crate::usage::{Derivation, Exit, show};

/// Logs in to a page of its own on loopback, types, clicks, navigates and reads, with a real agent
/// process behind the pipe, and shows each step and the timeline by seq.
///
/// Exit status: 0 every step was as expected, 1 one was not, 3 the session crashed or did not start.
#[derive(clap::Args)]
pub struct DemoArguments {
    /// Which Chromium; `auto` looks for it.
    #[arg(long, value_name = "auto|PATH", default_value = "auto")]
    browser: crate::browser::BrowserChoice,
    /// Show the browser's window and type slowly.
    #[arg(long)]
    headful: bool,
    /// Where the trace goes; a file in the folder for temporary files where it is not given.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Runs the demo.
pub fn run(arguments: &DemoArguments) -> Result<(), Exit> {
    let site =
        Site::start().map_err(|error| Exit::crashed(format!("cannot serve a page on loopback: {error}")))?;
    let steps = steps(&site.address, arguments.headful);

    let folder = std::env::temp_dir();
    let script = folder.join(format!("sgclaw-demo-{}.script.jsonl", std::process::id()));
    let trace = arguments
        .trace
        .clone()
        .unwrap_or_else(|| folder.join(format!("sgclaw-demo-{}.trace.jsonl", std::process::id())));
    let text: String = steps.iter().map(|(_, step)| format!("{step}\n")).collect();
    std::fs::write(&script, text).map_err(|error| Exit::usage(format!("{}: {error}", script.display())))?;
    let file =
        File::create(&trace).map_err(|error| Exit::usage(format!("--trace {}: {error}", trace.display())))?;

    let program =
        std::env::current_exe().map_err(|error| Exit::crashed(format!("cannot find myself: {error}")))?;
    let agent =
        [program.into_os_string(), "agent".into(), "--script".into(), script.clone().into_os_string()];
    let browser =
        BrowserArguments { browser: arguments.browser.clone(), url: None, headful: arguments.headful };
    show(format_args!("A page of our own is at http://{}/ ; the browser is starting.", site.address));
    let mut display = Show::new(steps.iter().map(|(story, _)| *story).collect(), TraceFile::new(file));
    let ended = host::start(
        &browser,
        Policy::loopback(&WhatwgUrlParser),
        Derivation::Hkdf,
        Confirm::Deny,
        HostSettings::default(),
        &agent,
        &mut display,
    );
    display.flush();
    let _temporary = std::fs::remove_file(&script);

    let records = std::fs::read(&trace).map(|text| trace_view::read(&text).0).unwrap_or_default();
    show(format_args!("\nWhat the host did with each seq:\n\n{}", trace_view::timeline(&records)));
    let (trace, program) = (trace.display(), agent[0].display());
    show(format_args!(
        "The trace lies in {trace}\nFollow one seq through it: {program} trace {trace} --seq 4"
    ));
    match (ended.state, display.good == steps.len()) {
        (State::Stopped, true) => {
            show(format_args!("\nAll {} steps were as expected.", steps.len()));
            Ok(())
        }
        (State::Stopped, false) => {
            Err(Exit::no(format!("{} of {} steps were as expected", display.good, steps.len())))
        }
        _ => {
            let code = ended.code.map(|code| format!("{code}: ")).unwrap_or_default();
            let bad = if display.bad > 0 {
                format!(" ({} steps were not as expected)", display.bad)
            } else {
                String::new()
            };
            Err(Exit::crashed(format!("{code}{}{bad}", ended.message)))
        }
    }
}

/// What is told, and the line of the script.
fn steps(address: &str, slow: bool) -> Vec<(&'static str, Value)> {
    let delay = if slow { 80 } else { 0 };
    let step = |action: &str, params: Value| json!({"action": action, "params": params, "expected_domain": "127.0.0.1"});
    let expect = |mut step: Value, expected: Value| {
        step["expect"] = expected;
        step
    };
    let text = |selector: &str, text: &str| {
        expect(
            step("getText", json!({"selector": selector})),
            json!({"data": {"text": text, "truncated": false}}),
        )
    };
    let elsewhere = json!({"action": "navigate", "params": {"url": "https://elsewhere.example/"},
                           "expected_domain": "elsewhere.example", "expect": {"code": "MAC_DOMAIN_DENIED"}});
    vec![
        ("opens the login page", step("navigate", json!({"url": format!("http://{address}/")}))),
        (
            "types the user name, in Chinese",
            step("type", json!({"selector": "#user", "text": "张三", "delay_ms": delay})),
        ),
        (
            "types the password",
            step("type", json!({"selector": "#password", "text": "correct horse", "delay_ms": delay})),
        ),
        (
            "may not read the password back",
            expect(
                step("getAttribute", json!({"selector": "#password", "name": "value"})),
                json!({"code": "MAC_ACTION_DENIED"}),
            ),
        ),
        ("clicks “Log in” and waits for the page behind it", step("click", json!({"selector": "#login"}))),
        ("reads the greeting", text("#greeting", "你好，张三")),
        (
            "writes a note of two lines",
            step(
                "type",
                json!({"selector": "#note", "text": "会议改到三点 😀\nsee you there", "delay_ms": delay}),
            ),
        ),
        (
            "picks a colour",
            expect(
                step("select", json!({"selector": "#colour", "label": "绿色"})),
                json!({"data": {"values": ["green"]}}),
            ),
        ),
        ("clicks “Save”, which moves for a second", step("click", json!({"selector": "#save"}))),
        ("reads what was saved", text("#saved", "会议改到三点 😀 | see you there | green")),
        ("follows a link", step("click", json!({"selector": "#about"}))),
        ("reads the page behind it", text("h1", "关于")),
        ("goes back", step("goBack", json!({}))),
        ("tries to leave the policy's domains, and is refused", elsewhere),
    ]
}

/// Shows the steps while they run.
struct Show {
    stories: Vec<&'static str>,
    trace: TraceFile,
    good: usize,
    bad: usize,
    colours: bool,
}

impl Show {
    fn new(stories: Vec<&'static str>, trace: TraceFile) -> Self {
        let colours = host::colours(&std::io::stdout());
        Show { stories, trace, good: 0, bad: 0, colours }
    }

    fn mark(&self, ok: bool) -> &'static str {
        match (ok, self.colours) {
            (true, true) => "\u{1b}[32m✓\u{1b}[0m",
            (true, false) => "✓",
            (false, true) => "\u{1b}[31m✗\u{1b}[0m",
            (false, false) => "✗",
        }
    }
}

impl Observer for Show {
    fn log(&mut self, line: &str) {
        show(format_args!("  host: {line}"));
    }

    fn agent_line(&mut self, line: &str) {
        let report: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(step) = report["step"].as_u64().and_then(|step| usize::try_from(step).ok()) else {
            show(format_args!("  agent: {line}"));
            return;
        };
        let ok = report["ok"] == true;
        if ok {
            self.good += 1;
        } else {
            self.bad += 1;
        }
        let story = step.checked_sub(1).and_then(|at| self.stories.get(at)).copied().unwrap_or_default();
        let code = report["code"].as_str().map(|code| format!("  {code}")).unwrap_or_default();
        show(format_args!(
            "{} seq {:<2} {:<13} {story}{code}  ({:.0} ms)",
            self.mark(ok),
            report["seq"],
            report["action"].as_str().unwrap_or_default(),
            report["ms"].as_f64().unwrap_or_default(),
        ));
        if !ok {
            show(format_args!("    expected {}, got {}", report["expected"], report["message"]));
        }
    }

    fn trace(&mut self, record: &TraceRecord) {
        self.trace.write(record);
    }

    fn flush(&mut self) {
        self.trace.flush();
        if std::io::stdout().is_terminal() {
            let _shown = std::io::stdout().flush();
        }
    }
}

/// A small site that one has to log in to.
struct Site {
    address: String,
    server: Arc<Server>,
    thread: Option<std::thread::JoinHandle<()>>,
}

const COOKIE: &str = "demo=logged-in";

impl Site {
    fn start() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let server = Arc::new(Server::http("127.0.0.1:0")?);
        let address = server.server_addr().to_string();
        let serving = Arc::clone(&server);
        let thread = std::thread::spawn(move || {
            for request in serving.incoming_requests() {
                let _the_browser_may_have_gone = answer(request);
            }
        });
        Ok(Site { address, server, thread: Some(thread) })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn answer(mut request: Request) -> std::io::Result<()> {
    let logged_in = request
        .headers()
        .iter()
        .any(|header| header.field.equiv("cookie") && header.value.as_str() == COOKIE);
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    match (request.method(), path.as_str()) {
        (Method::Get, "/") => page(request, LOGIN),
        (Method::Post, "/login") => {
            let mut body = String::new();
            std::io::Read::read_to_string(request.as_reader(), &mut body)?;
            if body == "user=%E5%BC%A0%E4%B8%89&password=correct+horse" {
                let cookie = format!("{COOKIE}; HttpOnly; SameSite=Strict");
                redirect(request, "/desk", Some(&cookie))
            } else {
                redirect(request, "/", None)
            }
        }
        (Method::Get, "/desk") if logged_in => page(request, DESK),
        (Method::Get, "/about") if logged_in => page(request, ABOUT),
        (Method::Get, "/desk" | "/about") => redirect(request, "/", None),
        _ => request.respond(Response::empty(404)),
    }
}

fn page(request: Request, html: &str) -> std::io::Result<()> {
    request.respond(with_header(Response::from_string(html), "Content-Type", "text/html; charset=utf-8"))
}

fn redirect(request: Request, to: &str, cookie: Option<&str>) -> std::io::Result<()> {
    let response = with_header(Response::from_string("").with_status_code(303), "Location", to);
    match cookie {
        Some(cookie) => request.respond(with_header(response, "Set-Cookie", cookie)),
        None => request.respond(response),
    }
}

fn with_header<R: std::io::Read>(response: Response<R>, name: &str, value: &str) -> Response<R> {
    match Header::from_bytes(name, value) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

const LOGIN: &str = r#"<!doctype html><html lang="zh"><meta charset="utf-8"><title>登录</title>
<style>body{font:20px sans-serif;margin:3em}input,button{font:inherit;margin:.3em}</style>
<h1>登录</h1>
<form method="post" action="/login">
<p><label>用户 <input id="user" name="user" autocomplete="off"></label>
<p><label>密码 <input id="password" name="password" type="password"></label>
<p><button id="login">Log in</button>
</form>"#;

const DESK: &str = r#"<!doctype html><html lang="zh"><meta charset="utf-8"><title>桌面</title>
<style>body{font:20px sans-serif;margin:3em}textarea,select,button{font:inherit;display:block;margin:.5em 0}
#save{animation:move .8s}@keyframes move{from{transform:translateX(300px)}}</style>
<h1 id="greeting">你好，张三</h1>
<textarea id="note" rows="3" cols="40"></textarea>
<select id="colour"><option value="red">红色<option value="green">绿色</select>
<button id="save">Save</button>
<p id="saved"></p>
<p><a id="about" href="/about">关于</a>
<script>
save.onclick = () => { saved.textContent = note.value.split("\n").join(" | ") + " | " + colour.value; };
</script>"#;

const ABOUT: &str = r#"<!doctype html><html lang="zh"><meta charset="utf-8"><title>关于</title>
<style>body{font:20px sans-serif;margin:3em}</style><h1>关于</h1><p>sgclaw</p>"#;
