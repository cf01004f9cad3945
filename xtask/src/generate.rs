//! Code and tables that come from `schemas/`, so that no list exists twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::{Result, capi, root};

#[derive(serde::Deserialize)]
struct Table {
    codes: Vec<Code>,
    reasons: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(serde::Deserialize)]
struct Code {
    number: u8,
    code: String,
    meaning: String,
    action: String,
    retry_after_ms: Vec<u64>,
    agent_breaks: bool,
    counts_for_breaker: bool,
}

impl Code {
    /// `PIPE_INVALID_JSON` → `PipeInvalidJson`
    fn variant(&self) -> String {
        self.code
            .split('_')
            .map(|word| {
                let (first, rest) = word.split_at(1);
                format!("{first}{}", rest.to_lowercase())
            })
            .collect()
    }

    fn retry(&self) -> String {
        match self.retry_after_ms.as_slice() {
            [] => "none".into(),
            delays => {
                let delays: Vec<_> = delays.iter().map(|delay| format!("{delay} ms")).collect();
                format!("{}, after {}", delays.len(), delays.join(" and "))
            }
        }
    }
}

/// Writes what is generated; with `check`, fails instead where the file differs.
pub fn generate(check: bool) -> Result<()> {
    let text = std::fs::read_to_string(root().join("schemas/pipe/1.0/errors.json"))?;
    let table: Table = serde_json::from_str(&text)?;
    check_numbers(&table.codes)?;
    put("src/contract/code.rs", &rust(&table), check)?;
    put("include/sgclaw/error_code.h", &cpp(&table.codes), check)?;
    put("include/sgclaw/sgclaw.h", &capi::header()?, check)?;
    let bridge = std::fs::read_to_string(root().join("src/ffi/bridge.rs"))?;
    put("src/ffi/bridge.rs", &bridge_codes(&bridge, &table.codes)?, check)?;
    for document in ["README.md", "README.zh-CN.md", "docs/L2-核心模块与接口契约层.md"] {
        let path = root().join(document);
        let Ok(mut text) = std::fs::read_to_string(&path) else { continue };
        text = between(&text, "error codes", &codes_table(&table.codes))?;
        text = between(&text, "reasons", &reasons_table(&table.reasons))?;
        text = between(&text, "actions", &actions_table()?)?;
        put(document, &text, check)?;
    }
    Ok(())
}

/// Other languages know a code by its number: each has one of its own, and 0 is success.
fn check_numbers(codes: &[Code]) -> Result<()> {
    let mut numbers = BTreeSet::from([0]);
    match codes.iter().find(|code| !numbers.insert(code.number)) {
        Some(code) => {
            Err(format!("errors.json: the number {} of {} is taken", code.number, code.code).into())
        }
        None => Ok(()),
    }
}

fn put(path: &str, content: &str, check: bool) -> Result<()> {
    let file = root().join(path);
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    if current == content {
        return Ok(());
    }
    if check {
        return Err(
            format!("{path} is not what its source says: run `cargo xtask generate` and commit").into()
        );
    }
    std::fs::write(file, content)?;
    println!("wrote {path}");
    Ok(())
}

fn rust(table: &Table) -> String {
    let codes = &table.codes;
    let mut out = String::from(
        "// Generated from schemas/pipe/1.0/errors.json by `cargo xtask generate`. Do not edit.\n\n\
         /// The error codes of the contract (sections 6 to 10), with the numbers that C and C++ know\n\
         /// them by.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\npub enum ErrorCode {\n",
    );
    for code in codes {
        let _ = writeln!(out, "    /// {}\n    {} = {},", code.meaning, code.variant(), code.number);
    }
    out.push_str("}\n\nimpl ErrorCode {\n    /// Every code, in the order of the table.\n");
    out.push_str("    pub const ALL: &[ErrorCode] = &[\n");
    for code in codes {
        let _ = writeln!(out, "        ErrorCode::{},", code.variant());
    }
    out.push_str("    ];\n\n    const fn row(self) -> &'static Row {\n        match self {\n");
    for code in codes {
        let _ = writeln!(
            out,
            "            ErrorCode::{} => &Row {{\n                code: {:?},\n                meaning: {:?},\n                \
             action: {:?},\n                retry_after_ms: &{:?},\n                agent_breaks: {},\n                \
             counts_for_breaker: {},\n            }},",
            code.variant(),
            code.code,
            code.meaning,
            code.action,
            code.retry_after_ms,
            code.agent_breaks,
            code.counts_for_breaker,
        );
    }
    out.push_str(
        "        }\n    }\n\n    \
         /// The number of the code in the C ABI and in C++; 1 or more, and never that of another code.\n    \
         pub const fn number(self) -> u8 {\n        self as u8\n    }\n\n    \
         /// The code of this number, where there is one.\n    \
         pub fn from_number(number: u8) -> Option<Self> {\n        \
         ErrorCode::ALL.iter().copied().find(|code| code.number() == number)\n    }\n\n    \
         /// The code as it stands on the wire, such as `PIPE_INVALID_JSON`.\n    \
         pub const fn as_str(self) -> &'static str {\n        self.row().code\n    }\n\n    \
         /// What the code says, in one sentence.\n    \
         pub const fn meaning(self) -> &'static str {\n        self.row().meaning\n    }\n\n    \
         /// What to do about it, in one sentence.\n    \
         pub const fn action(self) -> &'static str {\n        self.row().action\n    }\n\n    \
         /// How long an agent waits before each retry, in milliseconds; as many retries as entries.\n    \
         pub const fn retry_after_ms(self) -> &'static [u64] {\n        self.row().retry_after_ms\n    }\n\n    \
         /// Whether an agent stops the action when the retries are used up (contract section 10).\n    \
         pub const fn agent_breaks(self) -> bool {\n        self.row().agent_breaks\n    }\n\n    \
         /// Whether the failure counts for the host's breaker (contract section 10).\n    \
         pub const fn counts_for_breaker(self) -> bool {\n        self.row().counts_for_breaker\n    }\n}\n\n\
         struct Row {\n    code: &'static str,\n    meaning: &'static str,\n    action: &'static str,\n    \
         retry_after_ms: &'static [u64],\n    agent_breaks: bool,\n    counts_for_breaker: bool,\n}\n",
    );
    let reasons: Vec<&String> = table.reasons.values().flat_map(BTreeMap::keys).collect();
    let _ = writeln!(
        out,
        "\n/// Every `details.reason` of a failure (contract section 8).\npub const REASONS: &[&str] = &{reasons:?};"
    );
    format_rust(out)
}

fn cpp(codes: &[Code]) -> String {
    let mut out = String::from(
        "// Generated from schemas/pipe/1.0/errors.json by `cargo xtask generate`.\n// Do not edit.\n\n\
         #ifndef SGCLAW_ERROR_CODE_H_\n#define SGCLAW_ERROR_CODE_H_\n\n\
         #include <cstdint>\n#include <string_view>\n\nnamespace sgclaw {\n\n\
         // The error codes of the pipe contract, sections 6 to 10. A number is never\n\
         // given to another code.\n\
         enum class ErrorCode : uint8_t {\n",
    );
    for code in codes {
        let _ = writeln!(out, "{}  k{} = {},", cpp_comment(&code.meaning), code.variant(), code.number);
    }
    out.push_str(
        "};\n\n// The code as it stands on the wire, such as \"PIPE_INVALID_JSON\"; empty for a\n\
         // number that is no code.\nconstexpr std::string_view ErrorCodeName(ErrorCode code) {\n  switch (code) {\n",
    );
    for code in codes {
        let _ = writeln!(out, "    case ErrorCode::k{}:\n      return {:?};", code.variant(), code.code);
    }
    out.push_str(
        "  }\n  return std::string_view();\n}\n\n}  // namespace sgclaw\n\n#endif  // SGCLAW_ERROR_CODE_H_\n",
    );
    out
}

/// `text` as an indented comment of at most 80 columns.
fn cpp_comment(text: &str) -> String {
    let mut out = String::from("  //");
    let mut width = out.len();
    for word in text.split(' ') {
        if width + 1 + word.len() > 80 {
            out.push_str("\n  //");
            width = 4;
        }
        out.push(' ');
        out.push_str(word);
        width += 1 + word.len();
    }
    out.push('\n');
    out
}

/// As rustfmt would leave it, so that `cargo fmt --check` and the check here agree.
fn format_rust(source: String) -> String {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let config = root().join("rustfmt.toml");
    let child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return source };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(source.as_bytes());
    }
    match child.wait_with_output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap_or(source),
        _ => source,
    }
}

fn codes_table(codes: &[Code]) -> String {
    let mut out = String::from(
        "| code | what it says | what to do | retries of the agent |\n| --- | --- | --- | --- |\n",
    );
    for code in codes {
        let _ = writeln!(out, "| `{}` | {} | {} | {} |", code.code, code.meaning, code.action, code.retry());
    }
    out
}

fn reasons_table(reasons: &BTreeMap<String, BTreeMap<String, String>>) -> String {
    let mut out = String::from("| code | `details.reason` | what it says |\n| --- | --- | --- |\n");
    for (code, reasons) in reasons {
        for (reason, meaning) in reasons {
            let _ = writeln!(out, "| `{code}` | `{reason}` | {meaning} |");
        }
    }
    out
}

fn actions_table() -> Result<String> {
    let mut out =
        String::from("| action | params (required in bold) | data on success |\n| --- | --- | --- |\n");
    let mut files: Vec<_> = std::fs::read_dir(root().join("schemas/pipe/1.0/actions"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    files.sort();
    for file in files {
        let schema = schema(&file)?;
        let name = schema["title"].as_str().unwrap_or_default();
        let description = schema["description"].as_str().unwrap_or_default();
        let params = properties(&schema);
        let data = properties(&schema["$defs"]["data"]);
        let _ = writeln!(out, "| `{name}`: {description} | {params} | {data} |");
    }
    Ok(out)
}

fn schema(file: &Path) -> Result<serde_json::Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(file)?)?)
}

fn properties(schema: &serde_json::Value) -> String {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let mut names: Vec<_> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_by_key(|name| (!required.contains(name), *name));
    if names.is_empty() {
        return "–".into();
    }
    let names: Vec<_> = names
        .into_iter()
        .map(|name| if required.contains(&name) { format!("**`{name}`**") } else { format!("`{name}`") })
        .collect();
    names.join(", ")
}

/// Replaces what stands between the two marks `<!-- generated: NAME -->` and `<!-- end -->`.
/// The enum of the bridge, of which cxx checks each number against `error_code.h`.
fn bridge_codes(bridge: &str, codes: &[Code]) -> Result<String> {
    let (open, close) = ("    // generated: error codes\n", "    // end of generated\n");
    let parts = bridge.split_once(open).and_then(|(before, rest)| Some((before, rest.split_once(close)?.1)));
    let (before, after) = parts.ok_or("src/ffi/bridge.rs has lost the marks of its error codes")?;
    let mut out =
        format!("{before}{open}    #[namespace = \"sgclaw\"]\n    #[repr(u8)]\n    enum ErrorCode {{\n");
    for code in codes {
        let (name, number) = (code.variant(), code.number);
        let _ = writeln!(out, "        #[cxx_name = \"k{name}\"]\n        {name} = {number},");
    }
    Ok(out + "    }\n" + close + after)
}

fn between(text: &str, name: &str, content: &str) -> Result<String> {
    let open = format!("<!-- generated: {name} -->\n");
    let Some((before, rest)) = text.split_once(&open) else { return Ok(text.into()) };
    let (_, after) =
        rest.split_once("<!-- end -->").ok_or_else(|| format!("no `<!-- end -->` after {open}"))?;
    Ok(format!("{before}{open}{content}<!-- end -->{after}"))
}
