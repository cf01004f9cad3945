/// The script that looks at the page from an isolated world; it never acts on its own.
pub(super) const INJECTED: &str = include_str!("injected.js");

/// The name of the isolated world; one name is one world for each document.
pub(super) const WORLD: &str = "sgclaw";
