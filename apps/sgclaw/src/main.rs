//! The `sgclaw` command.

use std::process::ExitCode;

use clap::Parser;
use sgclaw_cli::usage::{Exit, log};
use sgclaw_cli::{agent, demo, host, tools, trace_view};

/// Lets an agent drive a real browser without the browser having to trust it.
///
/// Exit status: 0 done, 1 the answer is no, 2 usage, 3 the session crashed or could not be started.
/// Errors go to stderr; what programs read goes to stdout as JSON.
#[derive(Parser)]
#[command(name = "sgclaw", version)]
enum Command {
    Demo(demo::DemoArguments),
    Host(host::HostArguments),
    Agent(agent::AgentArguments),
    Canonicalize(tools::CanonicalizeArguments),
    Sign(tools::SignArguments),
    Verify(tools::VerifyArguments),
    Trace(trace_view::TraceArguments),
    Errors(tools::ErrorsArguments),
    Schema(tools::SchemaArguments),
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Host(arguments) => host::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Canonicalize(arguments) => tools::canonicalize(&arguments),
        Command::Sign(arguments) => tools::sign(&arguments),
        Command::Verify(arguments) => tools::verify(&arguments),
        Command::Trace(arguments) => trace_view::run(&arguments),
        Command::Errors(arguments) => tools::errors(&arguments),
        Command::Schema(arguments) => tools::schema(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Exit { status, message }) => {
            if !message.is_empty() {
                log(format_args!("sgclaw: {message}"));
            }
            ExitCode::from(status)
        }
    }
}
