//! A browser that shows a page, and a server for such pages.

#[path = "browser.rs"]
mod browser;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use browser::Outcome;
use serde_json::{Value, json};

/// The data of an action that has to succeed.
#[track_caller]
pub fn ok(outcome: Outcome) -> Value {
    outcome.expect("success")
}

pub struct Browser {
    browser: browser::Browser,
    server: Server,
    pub domain: String,
}

impl Browser {
    /// A browser that shows a page with this body.
    pub fn on(body: &str) -> Browser {
        let policy = json!({"version": 1, "domains": [
            {"pattern": "localhost", "actions": ["*"]},
            {"pattern": "127.0.0.1", "actions": ["*"]},
        ]});
        let browser = browser::Browser::start(&policy);
        let mut browser = Browser { browser, server: Server::start(), domain: "127.0.0.1".to_owned() };
        let url = browser.page(body);
        ok(browser.act("navigate", json!({ "url": url })));
        browser
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

    pub fn act(&mut self, action: &str, mut params: Value) -> Outcome {
        if params.get("timeout_ms").is_none() {
            params["timeout_ms"] = 10_000.into();
        }
        self.browser.act(action, &params, &self.domain)
    }

    /// From now on the policy allows these actions alone.
    pub fn allow_only(&mut self, actions: &[&str]) {
        let domains = json!([{"pattern": self.domain, "actions": actions}]);
        self.browser.set_policy(&json!({"version": 1, "domains": domains}));
    }

    pub fn crash(&mut self) {
        self.browser.crash();
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
