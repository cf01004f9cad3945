//! What the library adds to a C++ program, and what of it is whose.

use std::collections::BTreeMap;
use std::process::Command;

use crate::run::run;
use crate::{Result, root};

const BIGGEST: usize = 12;

/// `cargo xtask size`
pub fn size() -> Result<()> {
    let empty = build("empty", "tests/size/empty.cc", None)?;
    println!("\ntext + data of a stripped program, in bytes; an empty one has {empty}");
    for variant in ["with", "without"] {
        let folder = format!("target/size/{variant}");
        let manifest = format!("tests/size/{variant}/Cargo.toml");
        run(&[
            "cargo",
            "build",
            "--quiet",
            "--release",
            "--manifest-path",
            &manifest,
            "--target-dir",
            &folder,
        ])?;
        let library = format!("{folder}/release/libsize.a");
        let total = build(variant, "tests/size/program.cc", Some(&library))?;
        println!("\n{variant} jsonschema: {} more than an empty program", total.saturating_sub(empty));
        for (owner, bytes) in owners(&format!("{}/target/size/{variant}.program", root().display()))? {
            println!("  {bytes:>9} {owner}");
        }
    }
    Ok(())
}

/// Builds a program; the size of its text and data, stripped.
fn build(name: &str, source: &str, library: Option<&str>) -> Result<u64> {
    let program = format!("target/size/{name}.program");
    std::fs::create_dir_all(root().join("target/size"))?;
    let mut command = vec!["g++", "-std=c++17", "-Os", "-flto", "-fno-exceptions", "-fno-rtti"];
    command.extend(["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Iinclude", source]);
    command.extend(library);
    command.extend(["-o", &program, "-lpthread", "-ldl", "-lm"]);
    run(&command)?;
    let stripped = format!("{program}.stripped");
    run(&["strip", "-o", &stripped, &program])?;
    let output = tool("size", &[&stripped])?;
    let row = output.lines().nth(1).ok_or("size printed no row")?;
    row.split_whitespace().take(2).map(|field| Ok(field.parse::<u64>()?)).sum()
}

fn tool(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output()?;
    if !output.status.success() {
        return Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The crates whose symbols take most of a program, before it is stripped.
fn owners(program: &str) -> Result<Vec<(String, u64)>> {
    let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
    for line in tool("nm", &["--print-size", "--demangle", program])?.lines() {
        let mut words = line.splitn(4, ' ');
        let (_, size, _, name) = (words.next(), words.next(), words.next(), words.next());
        if let (Some(size), Some(name)) = (size.and_then(|size| u64::from_str_radix(size, 16).ok()), name) {
            *bytes.entry(owner(name)).or_default() += size;
        }
    }
    let mut bytes: Vec<_> = bytes.into_iter().collect();
    bytes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    bytes.truncate(BIGGEST);
    Ok(bytes)
}

/// The crate or namespace that a symbol begins with: `<regex_automata::dfa::X as Y>::f` is
/// `regex_automata`'s.
fn owner(symbol: &str) -> String {
    let name = symbol.trim_start_matches(|first: char| !first.is_alphanumeric() && first != '_');
    let name = name.trim_start_matches("mut ").trim_start_matches("dyn ");
    match name.split_once("::") {
        Some((owner, _)) => owner.to_owned(),
        None => "(no path)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn a_symbol_is_of_the_crate_that_it_begins_with() {
        assert_eq!(owner("<regex_automata::dfa::X as core::fmt::Debug>::fmt"), "regex_automata");
        assert_eq!(owner("<&mut serde_json::Value as T>::f"), "serde_json");
        assert_eq!(owner("sgclaw::pipe::host::Host::start"), "sgclaw");
        assert_eq!(owner("memcpy"), "(no path)");
    }
}
