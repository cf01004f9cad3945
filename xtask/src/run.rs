//! Runs commands, says what is going on, and how long it took.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::{Result, root};

/// "Possibly lost" is what statics keep by a pointer into the middle, such as the caches of regexes.
pub const VALGRIND: &str = "valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite \
                        --errors-for-leak-kinds=definite";

/// Runs `command` in the workspace; its output goes to the terminal.
pub fn run(command: &[&str]) -> Result<()> {
    run_with(command, &[], None)
}

/// The same with variables of the environment; with `log` the output goes there too.
pub fn run_with(
    command: &[&str],
    environment: &[(&str, &str)],
    log: Option<&Arc<Mutex<File>>>,
) -> Result<()> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    println!("\n=== {}", command.join(" "));
    std::io::stdout().flush()?;
    let start = Instant::now();
    let mut prepared = Command::new(program);
    prepared.args(arguments).current_dir(root()).envs(environment.iter().copied()).stdin(Stdio::null());
    let status = match log {
        None => prepared.status(),
        Some(log) => tee(&mut prepared, log),
    }
    .map_err(|error| format!("{program} cannot be run: {error}"))?;
    println!("=== {:.1} s: {}", start.elapsed().as_secs_f64(), command.join(" "));
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", command.join(" ")).into()) }
}

/// Shows both streams and keeps them.
fn tee(command: &mut Command, log: &Arc<Mutex<File>>) -> std::io::Result<std::process::ExitStatus> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let readers: Vec<_> = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn std::io::Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn std::io::Read + Send>),
    ]
    .into_iter()
    .flatten()
    .map(|stream| {
        let log = Arc::clone(log);
        std::thread::spawn(move || copy(stream, &log))
    })
    .collect();
    let status = child.wait();
    for reader in readers {
        let _done = reader.join();
    }
    status
}

fn copy(stream: Box<dyn std::io::Read + Send>, log: &Mutex<File>) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let mut out = std::io::stdout().lock();
        let _shown = out.write_all(&line).and_then(|()| out.flush());
        if let Ok(mut file) = log.lock() {
            let _kept = file.write_all(&line);
        }
        line.clear();
    }
}
