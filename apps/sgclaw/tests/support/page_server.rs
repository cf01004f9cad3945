//! Serves the page cases on loopback, with routes for what a static file cannot do.
//!
//! `127.0.0.1` and `localhost` are two sites to a browser, so that a frame of the other one is out of process.
//! The browser is started with `--host-resolver-rules=MAP localhost 127.0.0.1`, since the server has one address.

use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tiny_http::{Header, Request, Response, Server};
use url::Url;

use super::cases;

/// More than the slow answers that any page waits for at a time.
const THREADS: usize = 16;

pub struct PageServer {
    server: Arc<Server>,
    port: u16,
    threads: Vec<JoinHandle<()>>,
}

type Answer = Response<Cursor<Vec<u8>>>;

impl PageServer {
    pub fn start() -> Result<Self, String> {
        let server = Server::http("127.0.0.1:0").map_err(|e| format!("page server: {e}"))?;
        let port = server.server_addr().to_ip().map(|address| address.port()).unwrap_or_default();
        let server = Arc::new(server);
        // tiny_http answers a request that is dropped, so those that must never be answered are kept.
        let unanswered = Arc::new(Mutex::new(Vec::new()));
        let threads = (0..THREADS)
            .map(|_| {
                let (server, unanswered) = (server.clone(), unanswered.clone());
                thread::spawn(move || {
                    while let Ok(request) = server.recv() {
                        handle(request, port, &unanswered);
                    }
                })
            })
            .collect();
        Ok(Self { server, port, threads })
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        for _ in &self.threads {
            self.server.unblock();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn handle(mut request: Request, port: u16, unanswered: &Mutex<Vec<Request>>) {
    let Ok(url) = Url::parse(&format!("http://127.0.0.1:{port}{}", request.url())) else {
        return respond(request, page(400, "not a URL"));
    };
    let query =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let number = |name: &str| query(name).and_then(|value| value.parse::<u64>().ok());
    let answer = match url.path() {
        "/hang" => {
            if let Ok(mut list) = unanswered.lock() {
                list.push(request);
            }
            return;
        }
        "/slow" => {
            thread::sleep(Duration::from_millis(number("ms").unwrap_or(0)));
            file(&query("path").unwrap_or_else(|| "/parts/blank.html".into()), port)
        }
        "/redirect" => {
            let to = query("to").unwrap_or_default();
            page(number("code").unwrap_or(302) as u16, "elsewhere").with_header(header("Location", &to))
        }
        "/download" => Response::from_data(b"not a page".to_vec())
            .with_header(header("Content-Type", "application/octet-stream"))
            .with_header(header("Content-Disposition", "attachment; filename=\"report.bin\"")),
        "/echo" => {
            let mut body = String::new();
            let read = request.as_reader().read_to_string(&mut body);
            let body = if read.is_ok() { body } else { "unreadable".into() };
            page(200, &format!("{} {body}", request.method()))
        }
        path => match path.strip_prefix("/status/").and_then(|code| code.parse().ok()) {
            Some(code) => page(code, &format!("status {code}")),
            None => file(path, port),
        },
    };
    respond(request, answer);
}

fn respond(request: Request, answer: Answer) {
    // A browser that went away is no failure of the server.
    let _ = request.respond(answer.with_header(header("Cache-Control", "no-store")));
}

fn page(code: u16, text: &str) -> Answer {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let html = format!("<!doctype html><title>{code}</title><pre id=\"log\">{text}</pre>");
    let body = if code == 204 { Vec::new() } else { html.into_bytes() };
    Response::from_data(body)
        .with_status_code(code)
        .with_header(header("Content-Type", "text/html; charset=utf-8"))
}

fn file(path: &str, port: u16) -> Answer {
    // Cases and parts only: no path leads out of the directory.
    if path.contains("..") {
        return page(404, "no such page");
    }
    match std::fs::read_to_string(cases::pages_dir().join(path.trim_start_matches('/'))) {
        Ok(text) => Response::from_data(cases::substitute(cases::strip(&text), port).into_bytes())
            .with_header(header("Content-Type", content_type(path))),
        Err(_) => page(404, "no such page"),
    }
}

fn content_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("html") => "text/html; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).unwrap_or_else(|()| panic!("header {name}: {value:?}"))
}
