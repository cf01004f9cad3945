//! A program in C, as far as its arguments go: handles of every kind, buffers, structs, places for
//! outputs. A [`Plan`] says which argument is good and which is wrong, and how.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use sgclaw::ffi::c::*;
use sgclaw::pipe::{KeyDerivation, SessionKey};
use sgclaw::wire::{Command, HmacSeed};
use sgclaw::{Domain, JsonObject, UrlParser, WhatwgUrlParser};

pub(crate) const SEED: [u8; 32] = [0x5e; 32];
pub(crate) const DOMAIN: &str = "erp.example.com";
pub(crate) const POLICY: &str = r#"{"version":1,"confirm":["hover"],
    "domains":[{"pattern":"erp.example.com","actions":["*"]}]}"#;
pub(crate) const ACK: &str = "{\"type\":\"init_ack\",\"version\":\"1.0\",\
    \"agent_id\":\"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b\",\"supported_actions\":[\"click\",\"hover\",\"getText\"]}\n";

/// What may be wrong with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Null,
    Misaligned,
    WrongKind,
    Huge,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Handle,
    /// Where a handle stands or will stand.
    Variable,
    /// The same for a `sgclaw_text`: often a `why`.
    TextVariable,
    Text,
    Length,
    Out,
    /// An output of one byte, which is always aligned.
    ByteOut,
    Config,
    Urls,
    Number,
}

/// Picks the arguments of a call.
pub(crate) enum Plan {
    /// All good, but for the fault at one place. Notes what the arguments are.
    One { fault: Option<(usize, Fault)>, seen: Vec<Kind> },
    /// By these bytes; good where they are used up.
    Dice { bytes: Vec<u8>, at: usize },
}

impl Plan {
    pub(crate) fn good() -> Self {
        Plan::One { fault: None, seen: Vec::new() }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Plan::Dice { bytes, at } if *at >= bytes.len())
    }

    /// A number below `count`; 0 is the good choice.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        match self {
            Plan::One { .. } => 0,
            Plan::Dice { bytes, at } => {
                *at += 1;
                bytes.get(*at - 1).map_or(0, |byte| usize::from(*byte) % count)
            }
        }
    }

    fn fault(&mut self, kind: Kind) -> Option<Fault> {
        match self {
            Plan::One { fault, seen } => {
                seen.push(kind);
                fault.filter(|(at, _)| *at + 1 == seen.len()).map(|(_, fault)| fault)
            }
            Plan::Dice { .. } => match self.choose(64) {
                60 => Some(Fault::Null),
                61 => Some(Fault::Misaligned),
                62 => Some(Fault::WrongKind),
                63 => Some(Fault::Huge),
                _ => None,
            },
        }
    }
}

/// How many bytes stand behind every pointer to text, whatever the length says.
const BUFFER: usize = 4096;
const SCRATCH: usize = 1024;
const UNTOUCHED: u8 = 0xa5;
pub(crate) const KINDS: usize = 8;

#[repr(C, align(16))]
struct Scratch([u8; SCRATCH]);

pub(crate) struct World {
    /// The program's variables, two of each kind of handle, in the order of [`HandleKind::AT`].
    pub(crate) handles: [[*mut c_void; 2]; KINDS],
    texts: Vec<(Box<[u8]>, usize)>,
    /// The length of the text that was picked last.
    len: usize,
    scratch: Box<Scratch>,
    urls: Box<sgclaw_url_parser>,
    host_config: Box<sgclaw_host_config>,
    agent_config: Box<sgclaw_agent_config>,
    executor_config: Box<sgclaw_executor_config>,
    actions: Box<[sgclaw_str]>,
    pub(crate) now: u64,
}

pub(crate) fn str_of(text: &str) -> sgclaw_str {
    sgclaw_str { data: text.as_ptr().cast(), len: text.len() }
}

/// # Safety
/// The view is alive.
pub(crate) unsafe fn text_of(view: sgclaw_str) -> String {
    if view.data.is_null() {
        return String::new();
    }
    // SAFETY: demanded.
    let bytes = unsafe { std::slice::from_raw_parts(view.data.cast::<u8>(), view.len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A URL parser in C, which serves with the one of the crate.
///
/// # Safety
/// Called by the library.
unsafe extern "C" fn parse(_: *mut c_void, url: *const c_char, len: usize, parsed: *mut sgclaw_parsed_url) {
    // SAFETY: the library passes a text that lives while this runs.
    let url = unsafe { text_of(sgclaw_str { data: url, len }) };
    if let Some(found) = WhatwgUrlParser.parse(&url) {
        let (scheme, host) = (str_of(&found.scheme), found.host.unwrap_or_default());
        let host = str_of(&host);
        // SAFETY: as docs/c-api.md says.
        let status = unsafe { sgclaw_parsed_url_set(parsed, scheme.data, scheme.len, host.data, host.len) };
        assert_eq!(status, sgclaw_status::Ok);
    }
}

pub(crate) fn signed(seq: u64, action: &str, params: &str) -> String {
    let mut command = Command {
        seq,
        action: action.parse().unwrap(),
        params: JsonObject::parse(params.as_bytes()).unwrap(),
        expected_domain: Domain::parse(DOMAIN, &WhatwgUrlParser).unwrap(),
        hmac: [b'0'; 64],
    };
    let seed = HmacSeed::from_bytes(&SEED).unwrap();
    command.hmac = SessionKey::derive(&seed, KeyDerivation::Hkdf).sign(&command);
    command.to_line()
}

const CLICK: &str = r##"{"selector":"#a"}"##;

impl World {
    /// A running session with a command taken from it, and one handle of every other kind.
    pub(crate) fn new() -> Self {
        let mut texts: Vec<Vec<u8>> = [
            "{}",
            POLICY,
            DOMAIN,
            "click",
            "hover",
            "https://erp.example.com/a",
            "beep",
            "",
            CLICK,
            ACK,
            r#"{"type":"object","properties":{},"additionalProperties":false}"#,
            r#"{"id":1,"result":{"targetInfos":[]}}"#,
            "[1.0,\"\\u4f60\"]",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into();
        for seq in 2..6 {
            texts.push(signed(seq, if seq == 3 { "hover" } else { "click" }, CLICK).into());
        }
        texts.push(vec![0xff, 0xfe, b'\n']);
        texts.push(vec![b'{'; 200]);
        let padded = texts.into_iter().map(|text| {
            let len = text.len();
            let mut buffer = text;
            buffer.resize(BUFFER, b' ');
            (buffer.into_boxed_slice(), len)
        });
        let actions: Box<[sgclaw_str]> = ["click", "hover", "getText"].map(str_of).into();
        let mut world = World {
            handles: [[null_mut(); 2]; KINDS],
            texts: padded.collect(),
            len: 0,
            scratch: Box::new(Scratch([UNTOUCHED; SCRATCH])),
            urls: Box::new(sgclaw_url_parser { context: null_mut(), parse: Some(parse) }),
            host_config: zeroed(),
            agent_config: zeroed(),
            executor_config: zeroed(),
            actions,
            now: 1_000,
        };
        world.set_up();
        world
    }

    fn set_up(&mut self) {
        let World { handles, urls, host_config, agent_config, executor_config, .. } = self;
        let ok = |status| assert_eq!(status, sgclaw_status::Ok);
        // SAFETY: everything is as docs/c-api.md demands.
        unsafe {
            for slot in 0..2 {
                ok(sgclaw_registry_standard(variable(handles, slot)));
                ok(sgclaw_policy_parse(
                    str_of(POLICY).data,
                    POLICY.len(),
                    &raw const **urls,
                    variable(handles, slot),
                    null_mut(),
                ));
                ok(sgclaw_canonicalize(c"1".as_ptr(), 1, variable(handles, slot), null_mut()));
            }
            ok(sgclaw_host_config_init(&raw mut **host_config));
            host_config.session = str_of("c");
            host_config.seed = sgclaw_bytes { data: SEED.as_ptr(), len: SEED.len() };
            host_config.registry = handles[sgclaw_registry::AT][1].cast();
            host_config.policy = handles[sgclaw_policy::AT][1].cast();
            host_config.urls = &raw const **urls;
            ok(sgclaw_agent_config_init(&raw mut **agent_config));
            agent_config.agent_id = str_of("0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b");
            agent_config.supported_actions = self.actions.as_ptr();
            agent_config.supported_actions_count = self.actions.len();
            ok(sgclaw_executor_config_init(&raw mut **executor_config));
            executor_config.policy = handles[sgclaw_policy::AT][1].cast();
            for slot in 0..2 {
                ok(sgclaw_host_new(&raw const **host_config, variable(handles, slot)));
                ok(sgclaw_agent_new(&raw const **agent_config, variable(handles, slot)));
                ok(sgclaw_executor_new(&raw const **executor_config, variable(handles, slot)));
            }
            // The first of each runs.
            let host: *mut sgclaw_host = handles[sgclaw_host::AT][0].cast();
            ok(sgclaw_host_set_page(host, str_of(DOMAIN).data, DOMAIN.len()));
            ok(sgclaw_host_start(host, self.now));
            let mut output = sgclaw_bytes { data: null(), len: 0 };
            ok(sgclaw_host_output(host, &raw mut output));
            let agent: *mut sgclaw_agent = handles[sgclaw_agent::AT][0].cast();
            ok(sgclaw_agent_handle_input(agent, output.data, output.len, self.now));
            ok(sgclaw_host_output_written(host, output.len));
            let input = ACK.to_owned() + &signed(1, "click", CLICK);
            ok(sgclaw_host_handle_input(host, input.as_ptr(), input.len(), self.now));
            let command: *mut *mut sgclaw_command = variable(handles, 0);
            let mut event = std::mem::MaybeUninit::uninit();
            while sgclaw_host_poll_event(host, event.as_mut_ptr()) == sgclaw_status::Ok {
                if (*event.as_ptr()).kind == sgclaw_host_event_kind::Execute {
                    ok(sgclaw_host_take_command(host, command));
                }
            }
            assert!(!(*command).is_null());
        }
    }

    /// Calls `function` and checks what holds for every call: a failure writes nothing.
    pub(crate) fn call(&mut self, function: &crate::functions::Function, plan: &mut Plan) -> sgclaw_status {
        self.scratch.0.fill(UNTOUCHED);
        let before = self.handles;
        let status = (function.call)(self, plan);
        if status != sgclaw_status::Ok {
            assert!(
                self.scratch.0.iter().all(|byte| *byte == UNTOUCHED),
                "{} wrote at {status:?}",
                function.name
            );
        }
        for (kind, (before, after)) in before.iter().zip(&self.handles).enumerate() {
            for (before, after) in before.iter().zip(after) {
                let kept = status == sgclaw_status::Ok || kind == sgclaw_text::AT || before == after;
                assert!(kept, "{} changed a variable at {status:?}", function.name);
                // A variable that was written over leaves its handle to nobody.
                if !before.is_null() && !after.is_null() && before != after {
                    free(*before);
                }
            }
        }
        // The configurations refer to these.
        self.host_config.registry = self.handles[sgclaw_registry::AT][1].cast();
        self.host_config.policy = self.handles[sgclaw_policy::AT][1].cast();
        self.executor_config.policy = self.handles[sgclaw_policy::AT][1].cast();
        status
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for handle in self.handles.iter().flatten() {
            free(*handle);
        }
    }
}

/// A struct of numbers and pointers that `config_init` will fill.
fn zeroed<T>() -> Box<T> {
    // SAFETY: zero is a number and NULL a pointer.
    unsafe { Box::new(std::mem::zeroed()) }
}

fn variable<H: HandleKind>(handles: &mut [[*mut c_void; 2]; KINDS], slot: usize) -> *mut *mut H {
    (&raw mut handles[H::AT][slot]).cast()
}

/// Frees a handle whose kind is not known here: all but one refuse it.
fn free(handle: *mut c_void) {
    if handle.is_null() {
        return;
    }
    let mut freed = 0;
    let mut attempt = |free: &dyn Fn(*mut *mut c_void) -> sgclaw_status| {
        let mut variable = handle;
        if freed == 0 && free(&raw mut variable) == sgclaw_status::Ok {
            assert!(variable.is_null());
            freed += 1;
        }
    };
    // SAFETY: a live handle of some kind.
    unsafe {
        attempt(&|variable| sgclaw_text_free(variable.cast()));
        attempt(&|variable| sgclaw_registry_free(variable.cast()));
        attempt(&|variable| sgclaw_policy_free(variable.cast()));
        attempt(&|variable| sgclaw_command_free(variable.cast()));
        attempt(&|variable| sgclaw_host_free(variable.cast()));
        attempt(&|variable| sgclaw_agent_free(variable.cast()));
        attempt(&|variable| sgclaw_executor_free(variable.cast()));
    }
    assert_eq!(freed, 1);
}

/// A kind of handle and where its variables are.
pub(crate) trait HandleKind {
    const AT: usize;
}

macro_rules! handle_kinds {
    ($($kind:ident = $at:literal)*) => {$(
        impl HandleKind for $kind {
            const AT: usize = $at;
        }
        impl Arg for *const $kind {
            fn pick(world: &mut World, plan: &mut Plan) -> Self {
                world.handle($at, plan).cast()
            }
        }
        impl Arg for *mut $kind {
            fn pick(world: &mut World, plan: &mut Plan) -> Self {
                world.handle($at, plan).cast()
            }
        }
        impl Arg for *mut *mut $kind {
            fn pick(world: &mut World, plan: &mut Plan) -> Self {
                world.variable($at, plan).cast()
            }
        }
    )*};
}

handle_kinds! {
    sgclaw_registry = 0
    sgclaw_policy = 1
    sgclaw_text = 2
    sgclaw_command = 3
    sgclaw_host = 4
    sgclaw_agent = 5
    sgclaw_executor = 6
    // Lives only while a URL parser runs: to all tests here it is another kind.
    sgclaw_parsed_url = 7
}

/// What an argument of this type can be.
pub(crate) trait Arg {
    fn pick(world: &mut World, plan: &mut Plan) -> Self;
}

impl World {
    fn handle(&mut self, at: usize, plan: &mut Plan) -> *mut c_void {
        let slot = plan.choose(2);
        match plan.fault(Kind::Handle) {
            None | Some(Fault::Huge) => self.handles[at][slot],
            Some(Fault::Null) => null_mut(),
            Some(Fault::Misaligned) => self.handles[at][slot].wrapping_byte_add(1),
            Some(Fault::WrongKind) => self.handles[(at + 1 + plan.choose(KINDS - 2)) % (KINDS - 1)][0],
        }
    }

    fn variable(&mut self, at: usize, plan: &mut Plan) -> *mut *mut c_void {
        let slot = plan.choose(2);
        let kind = if at == sgclaw_text::AT { Kind::TextVariable } else { Kind::Variable };
        let own = &raw mut self.handles[at][slot];
        match plan.fault(kind) {
            None | Some(Fault::Huge) => own,
            Some(Fault::Null) => null_mut(),
            Some(Fault::Misaligned) => own.wrapping_byte_add(1),
            // A `why` is written on failure, whatever stood there: not among other kinds, please.
            Some(Fault::WrongKind) if kind == Kind::TextVariable && matches!(plan, Plan::Dice { .. }) => own,
            Some(Fault::WrongKind) => {
                &raw mut self.handles[(at + 1 + plan.choose(KINDS - 2)) % (KINDS - 1)][0]
            }
        }
    }

    fn text(&mut self, plan: &mut Plan) -> *const u8 {
        let text = plan.choose(self.texts.len());
        self.len = self.texts[text].1;
        match plan.fault(Kind::Text) {
            Some(Fault::Null) => null(),
            // Any address will do for a byte.
            _ => self.texts[text].0.as_ptr(),
        }
    }

    fn out(&mut self, kind: Kind, plan: &mut Plan) -> *mut c_void {
        match plan.fault(kind) {
            Some(Fault::Null) => null_mut(),
            Some(Fault::Misaligned) => (&raw mut self.scratch.0).cast::<c_void>().wrapping_byte_add(1),
            _ => (&raw mut self.scratch.0).cast(),
        }
    }
}

impl Arg for *const c_char {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        world.text(plan).cast()
    }
}

impl Arg for *const u8 {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        world.text(plan)
    }
}

impl Arg for usize {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        let len = match plan.choose(8) {
            5 => 0,
            6 => plan.choose(256),
            7 => BUFFER,
            _ => world.len,
        };
        match plan.fault(Kind::Length) {
            Some(Fault::Huge) => [usize::MAX, isize::MAX.unsigned_abs() + 1][plan.choose(2)],
            _ => len,
        }
    }
}

impl Arg for u64 {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        plan.fault(Kind::Number);
        world.now += [0, 1, 1_000, 1_000_000][plan.choose(4)];
        [1, 2, 3, 4, 5, world.now, world.now, world.now, 0, u64::MAX][plan.choose(10)]
    }
}

impl Arg for u32 {
    fn pick(_: &mut World, plan: &mut Plan) -> Self {
        plan.fault(Kind::Number);
        [1, 23, 31, 0, 32, 255, 256, u32::MAX][plan.choose(8)]
    }
}

impl Arg for i32 {
    fn pick(_: &mut World, plan: &mut Plan) -> Self {
        plan.fault(Kind::Number);
        [0, 1, -1, i32::MIN][plan.choose(4)]
    }
}

impl Arg for *const sgclaw_url_parser {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        match plan.fault(Kind::Urls) {
            Some(Fault::Null) => null(),
            Some(Fault::Misaligned) => (&raw const *world.urls).wrapping_byte_add(1),
            _ => &raw const *world.urls,
        }
    }
}

impl Arg for *const sgclaw_host_config {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        let config = &raw const *world.host_config;
        match plan.fault(Kind::Config) {
            Some(Fault::Null) => null(),
            Some(Fault::Misaligned) => config.wrapping_byte_add(1),
            _ => config,
        }
    }
}

impl Arg for *const sgclaw_agent_config {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        let config = &raw const *world.agent_config;
        match plan.fault(Kind::Config) {
            Some(Fault::Null) => null(),
            Some(Fault::Misaligned) => config.wrapping_byte_add(1),
            _ => config,
        }
    }
}

impl Arg for *const sgclaw_executor_config {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        let config = &raw const *world.executor_config;
        match plan.fault(Kind::Config) {
            Some(Fault::Null) => null(),
            Some(Fault::Misaligned) => config.wrapping_byte_add(1),
            _ => config,
        }
    }
}

macro_rules! outs {
    ($($type:ty)*) => {$(
        impl Arg for *mut $type {
            fn pick(world: &mut World, plan: &mut Plan) -> Self {
                world.out(Kind::Out, plan).cast()
            }
        }
    )*};
}

outs! {
    sgclaw_str sgclaw_bytes sgclaw_state sgclaw_host_event sgclaw_agent_event sgclaw_executor_event
    sgclaw_host_config sgclaw_agent_config sgclaw_executor_config u32 u64 usize
}

impl Arg for *mut bool {
    fn pick(world: &mut World, plan: &mut Plan) -> Self {
        world.out(Kind::ByteOut, plan).cast()
    }
}
