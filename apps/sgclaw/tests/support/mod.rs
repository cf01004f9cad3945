//! A Chromium with an executor on it, and a server for its pages.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use sgclaw::browser::{Executor, ExecutorConfig, ExecutorEvent};
use sgclaw::contract::{Domain, WhatwgUrlParser};
use sgclaw::{Authorized, JsonObject, Policy, Time};
use sgclaw_cli::chromium::{Chromium, LaunchOptions};

/// What an action gave: its data, or the code and details of its failure.
pub type Outcome = Result<Value, (String, Value)>;

/// The data of an action that has to succeed.
#[track_caller]
pub fn ok(outcome: Outcome) -> Value {
    outcome.expect("success")
}

pub struct Browser {
    chromium: Chromium,
    executor: Executor,
    server: Server,
    began: Instant,
    seq: u64,
    pub domain: String,
    trace: bool,
}

impl Browser {
    /// A browser that shows a page with this body.
    pub fn on(body: &str) -> Browser {
        let chromium = Chromium::launch(&LaunchOptions::default()).expect("a Chromium");
        let policy = Arc::new(Policy { hosts: vec!["127.0.0.1".to_owned(), "localhost".to_owned()] });
        let mut browser = Browser {
            chromium,
            executor: Executor::new(ExecutorConfig::new(Arc::new(WhatwgUrlParser), policy)),
            server: Server::start(),
            began: Instant::now(),
            seq: 0,
            domain: "127.0.0.1".to_owned(),
            trace: std::env::var_os("SGCLAW_TEST_TRACE").is_some(),
        };
        let now = browser.now();
        browser.executor.start(now);
        browser.wait(|event| (event == ExecutorEvent::Ready).then_some(()));
        let url = browser.page(body);
        ok(browser.act("navigate", json!({ "url": url })));
        browser
    }

    fn now(&self) -> Time {
        Time::from_micros(self.began.elapsed().as_micros() as u64)
    }

    /// The address of a page with this body.
    pub fn page(&self, body: &str) -> String {
        self.server.page(body)
    }

    pub fn origin(&self) -> String {
        self.server.origin()
    }

    pub fn text(&mut self, selector: &str) -> String {
        let found = ok(self.act("getText", json!({ "selector": selector })));
        found["text"].as_str().expect("a text").to_owned()
    }

    pub fn act(&mut self, action: &str, params: Value) -> Outcome {
        self.seq += 1;
        let timeout = params.get("timeout_ms").and_then(Value::as_u64).unwrap_or(10_000);
        let command = Authorized {
            seq: self.seq,
            action: action.into(),
            params: JsonObject::from_serde(&params).expect("params"),
            domain: Domain::parse(&self.domain, &WhatwgUrlParser).expect("a domain"),
            timeout: Duration::from_millis(timeout),
        };
        let now = self.now();
        self.executor.execute(command, now);
        let expected = self.seq;
        let outcome = self.wait(|event| match event {
            ExecutorEvent::Completed { seq, outcome } if seq == expected => Some(outcome),
            _ => None,
        });
        match outcome {
            Ok(data) => Ok(serde_json::from_str(data.as_str()).expect("JSON")),
            Err(failure) => {
                let details = failure.details.as_ref().map(|details| details.as_str());
                let details = serde_json::from_str(details.unwrap_or("null")).unwrap_or(Value::Null);
                eprintln!("{failure} {details}");
                Err((failure.code.as_str().to_owned(), details))
            }
        }
    }

    /// Kills the page's renderer.
    pub fn crash(&mut self) {
        // A message of ours beside the executor's; it ignores the reply to an id it did not make.
        let targets = self.side_call(json!({ "id": 9_000_001, "method": "Target.getTargets" }));
        let target = targets["result"]["targetInfos"]
            .as_array()
            .expect("targets")
            .iter()
            .find(|target| target["type"] == "page")
            .expect("a page")["targetId"]
            .clone();
        let attach = json!({ "id": 9_000_002, "method": "Target.attachToTarget",
            "params": { "targetId": target, "flatten": true } });
        let session = self.side_call(attach)["result"]["sessionId"].clone();
        self.chromium.queue(
            json!({ "id": 9_000_003, "method": "Page.crash", "sessionId": session }).to_string().into_bytes(),
        );
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            self.turn(&mut |_| {});
        }
    }

    fn side_call(&mut self, message: Value) -> Value {
        let id = message["id"].clone();
        self.chromium.queue(message.to_string().into_bytes());
        let mut reply = None;
        while reply.is_none() {
            self.turn(&mut |message| {
                let message: Value = serde_json::from_slice(message).unwrap_or_default();
                if message["id"] == id {
                    reply = Some(message);
                }
            });
        }
        reply.unwrap_or_default()
    }

    fn wait<T>(&mut self, mut wanted: impl FnMut(ExecutorEvent) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(40);
        loop {
            while let Some(event) = self.executor.poll_event() {
                if self.trace {
                    eprintln!("event {event:?}");
                }
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
            assert!(Instant::now() < end, "the executor did not answer");
            self.turn(&mut |_| {});
        }
    }

    /// One turn of the loop: write, wait, read.
    fn turn(&mut self, seen: &mut dyn FnMut(&[u8])) {
        while let Some(message) = self.executor.poll_message() {
            if self.trace {
                eprintln!(
                    "{:>9} > {:.400}",
                    self.began.elapsed().as_micros(),
                    String::from_utf8_lossy(&message)
                );
            }
            self.chromium.queue(message);
        }
        self.chromium.flush().expect("a pipe");
        let now = self.now();
        let pause =
            self.executor.poll_timeout().map_or(50_000, |at| at.since(now).as_micros().min(50_000) + 999);
        let mut fds = vec![PollFd::new(self.chromium.reader_fd(), PollFlags::POLLIN)];
        if let Some(writer) = self.chromium.writer_fd().filter(|_| self.chromium.wants_write()) {
            fds.push(PollFd::new(writer, PollFlags::POLLOUT));
        }
        poll(&mut fds, PollTimeout::try_from((pause / 1000) as i32).expect("a timeout")).expect("poll");
        let messages = self.chromium.read_messages().expect("a pipe");
        let now = self.now();
        for message in messages {
            if self.trace {
                eprintln!(
                    "{:>9} < {:.400}",
                    self.began.elapsed().as_micros(),
                    String::from_utf8_lossy(&message)
                );
            }
            seen(&message);
            self.executor.handle_message(&message, now);
        }
        if self.chromium.has_ended() {
            self.executor.handle_disconnect(now);
        }
        self.executor.handle_timeout(now);
    }
}

/// Serves pages on loopback.
struct Server {
    port: u16,
    pages: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let pages = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&pages);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &pages));
            }
        });
        Server { port, pages }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn page(&self, body: &str) -> String {
        let mut pages = self.pages.lock().expect("pages");
        pages.push(format!("<!doctype html><meta charset=utf-8><body>{body}"));
        format!("{}/{}", self.origin(), pages.len() - 1)
    }
}

fn serve(mut stream: TcpStream, pages: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut byte = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend(&byte[..length]),
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let page = path.split('?').next().and_then(|number| number.parse::<usize>().ok());
    let body = page.and_then(|number| pages.lock().expect("pages").get(number).cloned());
    let answer = match (path, body) {
        (_, Some(body)) => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ),
        ("204", _) => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
        ("download", _) => "HTTP/1.1 200 OK\r\ncontent-disposition: attachment; filename=a.bin\r\n\
             content-length: 3\r\nconnection: close\r\n\r\nabc"
            .to_owned(),
        ("slow", _) => {
            std::thread::sleep(Duration::from_secs(3));
            return;
        }
        (path, _) => match path.strip_prefix("redirect?") {
            Some(target) => {
                format!(
                    "HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
            }
            None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        },
    };
    let _ = stream.write_all(answer.as_bytes());
}
