//! The part of CEF's C API that this host needs, behind safe functions. All the `unsafe` is here.
//!
//! Every object of that API begins with a count of its references. A pointer to an object that is
//! passed to CEF takes a reference along, and so does one that CEF passes to a callback, which must
//! give it back; only `self` is lent.

use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use cef_dll_sys as sys;
use nix::sys::signal::{SigHandler, Signal};

/// The size of the page, as nobody resizes what has no window.
const VIEW: (c_int, c_int) = (1280, 900);

/// In a process that Chromium has started from this program: does that process's work to its end, and
/// gives the exit status. `None` in the browser process, which is this program as a person started it.
pub fn run_subprocess() -> Option<u8> {
    let mut arguments = Arguments::new(std::env::args_os());
    let arguments = arguments.as_cef();
    // SAFETY: the arguments outlive the call, and the other two may be null.
    let status = unsafe { sys::cef_execute_process(&arguments, ptr::null_mut(), ptr::null_mut()) };
    (status >= 0).then(|| u8::try_from(status).unwrap_or(u8::MAX))
}

/// Whether CEF takes tasks. Threads of ours may outlive it.
static RUNS: RwLock<bool> = RwLock::new(false);

/// A started CEF. The thread that holds it is the browser's UI thread.
pub struct Cef {
    not_send: PhantomData<*const ()>,
}

impl Cef {
    /// Starts CEF without windows. `runtime` is the folder of libcef.so and its data; `profile` is for
    /// Chromium to write to.
    pub fn start(runtime: &Path, profile: &Path, switches: &[&str]) -> Result<Cef, String> {
        let program = std::env::args_os().next().unwrap_or_default();
        let mut arguments = Arguments::new([program].into_iter().chain(switches.iter().map(OsString::from)));
        let (resources, locales) = (Text::from(runtime), Text::from(runtime.join("locales").as_path()));
        let profile = Text::from(profile);
        // SAFETY: a struct of integers and of strings that may be empty; CEF means it to start as zero.
        let mut settings: sys::cef_settings_t = unsafe { std::mem::zeroed() };
        settings.size = size_of::<sys::cef_settings_t>();
        // Chromium's own sandbox needs a helper with setuid, or user namespaces, and refuses root.
        settings.no_sandbox = 1;
        settings.windowless_rendering_enabled = 1;
        settings.log_severity = sys::cef_log_severity_t::LOGSEVERITY_DISABLE;
        settings.resources_dir_path = resources.lend();
        settings.locales_dir_path = locales.lend();
        settings.root_cache_path = profile.lend();
        // SAFETY: arguments and settings outlive the call, which copies them; the others may be null.
        let started =
            unsafe { sys::cef_initialize(&arguments.as_cef(), &settings, ptr::null_mut(), ptr::null_mut()) };
        if started == 0 {
            return Err("CEF does not start".to_owned());
        }
        // Chromium's own handlers end the process under the session, and would be called after ours.
        // (They are there also where `disable_signal_handlers` is set.)
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: the default is no handler, so there is nothing in it to go wrong.
            let _handler = unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) };
        }
        *RUNS.write().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(Cef { not_send: PhantomData })
    }

    /// Runs the UI thread's loop until [`quit`].
    pub fn run(&self) {
        // SAFETY: CEF is started, and this is the thread that started it.
        unsafe { sys::cef_run_message_loop() }
    }
}

impl Drop for Cef {
    fn drop(&mut self) {
        *RUNS.write().unwrap_or_else(PoisonError::into_inner) = false;
        // SAFETY: CEF is started, this is the thread that started it, and its loop does not run.
        unsafe { sys::cef_shutdown() }
    }
}

/// Ends [`Cef::run`]. From a task of the UI thread.
pub fn quit() {
    // SAFETY: takes nothing; CEF checks the thread.
    unsafe { sys::cef_quit_message_loop() }
}

/// Runs `task` on the UI thread. From any thread; without a CEF nothing happens.
pub fn post(task: fn()) {
    post_delayed(task, Duration::ZERO);
}

/// The same, after `delay`.
pub fn post_delayed(task: fn(), delay: Duration) {
    // Held over the call, so that CEF does not end meanwhile.
    let runs = RUNS.read().unwrap_or_else(PoisonError::into_inner);
    if *runs {
        // Rounded up, so that a deadline has come when the task runs, and not almost.
        let delay = i64::try_from(delay.as_micros().div_ceil(1000)).unwrap_or(i64::MAX);
        // SAFETY: CEF runs, the task is a whole object, and its reference goes along.
        unsafe { sys::cef_post_delayed_task(sys::cef_thread_id_t::TID_UI, new_task(task).into_raw(), delay) };
    }
}

fn new_task(task: fn()) -> Ref<sys::cef_task_t> {
    unsafe extern "C" fn execute(this: *mut sys::cef_task_t) {
        // SAFETY: `this` was made below, with a `fn()`.
        let task = unsafe { data::<_, fn()>(this) };
        task();
    }
    Ref::new(task, |interface: &mut sys::cef_task_t| interface.execute = Some(execute))
}

unsafe extern "C" {
    /// Of CEF's cef_parser_capi.h, which the bindings leave out.
    fn cef_parse_url(url: *const sys::cef_string_t, parts: *mut sys::cef_urlparts_t) -> c_int;
}

/// The scheme and the host of an absolute URL, by GURL, the parser that Chromium navigates with.
/// `None` where GURL refuses the URL.
pub fn parse_url(url: &str) -> Option<(String, String)> {
    let url = Text::from(url);
    // SAFETY: a struct of strings that start empty.
    let mut parts: sys::cef_urlparts_t = unsafe { std::mem::zeroed() };
    // SAFETY: both outlive the call.
    if unsafe { cef_parse_url(&url.lend(), &mut parts) } == 0 {
        return None;
    }
    let found = (read(&parts.scheme), read(&parts.host));
    for part in [
        &mut parts.spec,
        &mut parts.scheme,
        &mut parts.username,
        &mut parts.password,
        &mut parts.host,
        &mut parts.port,
        &mut parts.origin,
        &mut parts.path,
        &mut parts.query,
        &mut parts.fragment,
    ] {
        // SAFETY: CEF wrote it, or left it empty.
        unsafe { sys::cef_string_utf16_clear(part) };
    }
    Some(found)
}

/// What a page tells, on the UI thread, also in the middle of a call to it.
pub enum PageEvent {
    /// A message of the page's DevTools session.
    Message(Vec<u8>),
    /// The session is over: nothing is answered any more.
    Detached,
    /// The page is gone, and CEF is done with it.
    Closed,
}

type Notify = Box<dyn Fn(PageEvent) + Send + Sync>;

/// A page without a window. Dropping it lets go of it; [`Page::close`] closes it.
pub struct Page {
    host: Ref<sys::cef_browser_host_t>,
    _observer: Ref<sys::cef_registration_t>,
    not_send: PhantomData<*const ()>,
}

impl Page {
    /// Opens a page, and a DevTools session on it.
    pub fn open(
        _on_ui_thread: &Cef,
        url: &str,
        notify: impl Fn(PageEvent) + Clone + Send + Sync + 'static,
    ) -> Result<Page, String> {
        // SAFETY: a struct of integers and of strings that may be empty.
        let mut window: sys::cef_window_info_t = unsafe { std::mem::zeroed() };
        window.windowless_rendering_enabled = 1;
        window.runtime_style = sys::cef_runtime_style_t::CEF_RUNTIME_STYLE_ALLOY;
        // SAFETY: the same.
        let mut settings: sys::cef_browser_settings_t = unsafe { std::mem::zeroed() };
        settings.size = size_of::<sys::cef_browser_settings_t>();
        let url = Text::from(url);
        let client = new_client(Box::new(notify.clone()));
        // SAFETY: window, URL and settings outlive the call, which copies them; the reference to the
        // client goes along; the others may be null. CEF checks the thread.
        let browser = unsafe {
            sys::cef_browser_host_create_browser_sync(
                &window,
                client.into_raw(),
                &url.lend(),
                &settings,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        // SAFETY: CEF gives a reference along with the pointer.
        let browser = unsafe { Ref::from_raw(browser) }.ok_or("CEF opens no page")?;
        let get_host = browser.get().get_host.ok_or("CEF's browser has no get_host")?;
        // SAFETY: `self` is lent, and a reference comes with the answer.
        let host = unsafe { Ref::from_raw(get_host(browser.as_ptr())) }.ok_or("CEF's browser has no host")?;
        let observe = host.get().add_dev_tools_message_observer.ok_or("CEF has no DevTools observers")?;
        let observer = new_observer(Box::new(notify));
        // SAFETY: `self` is lent, the reference to the observer goes along, one comes with the answer.
        let observer = unsafe { Ref::from_raw(observe(host.as_ptr(), observer.into_raw())) }
            .ok_or("CEF takes no DevTools observer")?;
        Ok(Page { host, _observer: observer, not_send: PhantomData })
    }

    /// Sends a message to the page's DevTools session. False where CEF does not take it.
    pub fn send(&self, message: &[u8]) -> bool {
        let Some(send) = self.host.get().send_dev_tools_message else { return false };
        // SAFETY: `self` is lent; the message outlives the call, which copies it.
        unsafe { send(self.host.as_ptr(), message.as_ptr().cast(), message.len()) != 0 }
    }

    /// Closes the page, whatever it has against it. [`PageEvent::Closed`] follows.
    pub fn close(&self) {
        if let Some(close) = self.host.get().close_browser {
            // SAFETY: `self` is lent.
            unsafe { close(self.host.as_ptr(), 1) }
        }
    }
}

struct Client {
    life_span: Ref<sys::cef_life_span_handler_t>,
    render: Ref<sys::cef_render_handler_t>,
}

fn new_client(notify: Notify) -> Ref<sys::cef_client_t> {
    unsafe extern "C" fn life_span(this: *mut sys::cef_client_t) -> *mut sys::cef_life_span_handler_t {
        // SAFETY: `this` was made below, with a `Client`.
        unsafe { data::<_, Client>(this) }.life_span.clone().into_raw()
    }
    unsafe extern "C" fn render(this: *mut sys::cef_client_t) -> *mut sys::cef_render_handler_t {
        // SAFETY: the same.
        unsafe { data::<_, Client>(this) }.render.clone().into_raw()
    }
    let client = Client { life_span: new_life_span(notify), render: new_render() };
    Ref::new(client, |interface: &mut sys::cef_client_t| {
        interface.get_life_span_handler = Some(life_span);
        interface.get_render_handler = Some(render);
    })
}

fn new_life_span(notify: Notify) -> Ref<sys::cef_life_span_handler_t> {
    /// A page of this host opens no window: nobody would look after it.
    unsafe extern "C" fn refuse_popup(
        _: *mut sys::cef_life_span_handler_t,
        browser: *mut sys::cef_browser_t,
        frame: *mut sys::cef_frame_t,
        _: c_int,
        _: *const sys::cef_string_t,
        _: *const sys::cef_string_t,
        _: sys::cef_window_open_disposition_t,
        _: c_int,
        _: *const sys::cef_popup_features_t,
        _: *mut sys::cef_window_info_t,
        client: *mut *mut sys::cef_client_t,
        _: *mut sys::cef_browser_settings_t,
        extra: *mut *mut sys::cef_dictionary_value_t,
        _: *mut c_int,
    ) -> c_int {
        // SAFETY: a reference comes with each, also where a pointer to the pointer is passed.
        drop(unsafe {
            (Ref::from_raw(browser), Ref::from_raw(frame), Ref::from_raw(*client), Ref::from_raw(*extra))
        });
        1
    }
    unsafe extern "C" fn closed(this: *mut sys::cef_life_span_handler_t, browser: *mut sys::cef_browser_t) {
        // SAFETY: a reference comes with it.
        drop(unsafe { Ref::from_raw(browser) });
        // SAFETY: `this` was made below, with a `Notify`.
        let notify = unsafe { data::<_, Notify>(this) };
        notify(PageEvent::Closed);
    }
    Ref::new(notify, |interface: &mut sys::cef_life_span_handler_t| {
        interface.on_before_popup = Some(refuse_popup);
        interface.on_before_close = Some(closed);
    })
}

fn new_render() -> Ref<sys::cef_render_handler_t> {
    unsafe extern "C" fn view(
        _: *mut sys::cef_render_handler_t,
        browser: *mut sys::cef_browser_t,
        view: *mut sys::cef_rect_t,
    ) {
        // SAFETY: a reference comes with it.
        drop(unsafe { Ref::from_raw(browser) });
        // SAFETY: CEF passes a place to write to.
        unsafe { view.write(sys::cef_rect_t { x: 0, y: 0, width: VIEW.0, height: VIEW.1 }) }
    }
    // Nobody looks at what is painted, so `on_paint` stays empty.
    Ref::new((), |interface: &mut sys::cef_render_handler_t| interface.get_view_rect = Some(view))
}

fn new_observer(notify: Notify) -> Ref<sys::cef_dev_tools_message_observer_t> {
    unsafe extern "C" fn message(
        this: *mut sys::cef_dev_tools_message_observer_t,
        browser: *mut sys::cef_browser_t,
        message: *const c_void,
        size: usize,
    ) -> c_int {
        // SAFETY: a reference comes with it.
        drop(unsafe { Ref::from_raw(browser) });
        // SAFETY: CEF passes that many bytes, which live until this returns.
        let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), size) };
        // SAFETY: `this` was made below, with a `Notify`.
        let notify = unsafe { data::<_, Notify>(this) };
        notify(PageEvent::Message(message.to_vec()));
        // Handled: CEF need not take it apart.
        1
    }
    unsafe extern "C" fn detached(
        this: *mut sys::cef_dev_tools_message_observer_t,
        browser: *mut sys::cef_browser_t,
    ) {
        // SAFETY: a reference comes with it.
        drop(unsafe { Ref::from_raw(browser) });
        // SAFETY: `this` was made below, with a `Notify`.
        let notify = unsafe { data::<_, Notify>(this) };
        notify(PageEvent::Detached);
    }
    Ref::new(notify, |interface: &mut sys::cef_dev_tools_message_observer_t| {
        interface.on_dev_tools_message = Some(message);
        interface.on_dev_tools_agent_detached = Some(detached);
    })
}

/// An interface of CEF.
///
/// # Safety
/// The type is `repr(C)`, begins with a `cef_base_ref_counted_t`, and has nothing else but functions
/// that may be absent.
unsafe trait Interface {}

macro_rules! interfaces {
    ($($name:ident)*) => {
        // SAFETY: CEF defines each of them so.
        $(unsafe impl Interface for sys::$name {})*
    };
}

interfaces! {
    cef_browser_t cef_browser_host_t cef_client_t cef_dev_tools_message_observer_t
    cef_dictionary_value_t cef_frame_t cef_life_span_handler_t cef_registration_t
    cef_render_handler_t cef_task_t
}

/// One reference to an object, CEF's or ours.
struct Ref<I: Interface>(NonNull<I>);

// SAFETY: all that a `Ref` does by itself is to count, which objects of CEF and ours do atomically.
// What is called on the object is called by `Page`, which stays on its thread.
unsafe impl<I: Interface> Send for Ref<I> {}
// SAFETY: the same.
unsafe impl<I: Interface> Sync for Ref<I> {}

impl<I: Interface> Ref<I> {
    /// An object of ours; `fill` sets the functions that it has. It may be dropped on any thread.
    fn new<D: Send + Sync + 'static>(data: D, fill: impl FnOnce(&mut I)) -> Self {
        // SAFETY: an `Interface` is a base of an integer and functions that may be absent, and has more
        // such functions: all of it may be zero.
        let mut interface: I = unsafe { std::mem::zeroed() };
        fill(&mut interface);
        let base = sys::cef_base_ref_counted_t {
            size: size_of::<I>(),
            add_ref: Some(add_ref::<I, D>),
            release: Some(release::<I, D>),
            has_one_ref: Some(has_one_ref::<I, D>),
            has_at_least_one_ref: Some(has_at_least_one_ref::<I, D>),
        };
        // SAFETY: an `Interface` begins with its base.
        unsafe { (&raw mut interface).cast::<sys::cef_base_ref_counted_t>().write(base) };
        let object = Box::new(Object { interface, references: AtomicUsize::new(1), data });
        Ref(NonNull::from(Box::leak(object)).cast())
    }

    /// # Safety
    /// The pointer is null, or a reference comes with it.
    unsafe fn from_raw(raw: *mut I) -> Option<Self> {
        NonNull::new(raw).map(Ref)
    }

    fn into_raw(self) -> *mut I {
        let raw = self.as_ptr();
        std::mem::forget(self);
        raw
    }

    fn as_ptr(&self) -> *mut I {
        self.0.as_ptr()
    }

    fn get(&self) -> &I {
        // SAFETY: the object lives while there is a reference, and its functions do not change.
        unsafe { self.0.as_ref() }
    }

    fn base(&self) -> *mut sys::cef_base_ref_counted_t {
        self.as_ptr().cast()
    }
}

impl<I: Interface> Clone for Ref<I> {
    fn clone(&self) -> Self {
        // SAFETY: the object lives and begins with its base.
        unsafe {
            if let Some(add_ref) = (*self.base()).add_ref {
                add_ref(self.base());
            }
        }
        Ref(self.0)
    }
}

impl<I: Interface> Drop for Ref<I> {
    fn drop(&mut self) {
        // SAFETY: the object lives and begins with its base; this reference is not used any more.
        unsafe {
            if let Some(release) = (*self.base()).release {
                release(self.base());
            }
        }
    }
}

/// An object of ours: a pointer to it is a pointer to its interface, and to the interface's base.
#[repr(C)]
struct Object<I, D> {
    interface: I,
    references: AtomicUsize,
    data: D,
}

/// # Safety
/// `this` is an object that [`Ref::new`] made with a `D`, and lives as long as the answer is used.
unsafe fn data<'a, I: Interface, D>(this: *mut I) -> &'a D {
    // SAFETY: by the caller.
    unsafe { &(*this.cast::<Object<I, D>>()).data }
}

/// # Safety
/// As for [`data`].
unsafe fn references<'a, I, D>(this: *mut sys::cef_base_ref_counted_t) -> &'a AtomicUsize {
    // SAFETY: by the caller.
    unsafe { &(*this.cast::<Object<I, D>>()).references }
}

unsafe extern "C" fn add_ref<I, D>(this: *mut sys::cef_base_ref_counted_t) {
    // SAFETY: CEF calls it on the object that it was set for.
    unsafe { references::<I, D>(this) }.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn release<I, D>(this: *mut sys::cef_base_ref_counted_t) -> c_int {
    // SAFETY: the same.
    if unsafe { references::<I, D>(this) }.fetch_sub(1, Ordering::Release) > 1 {
        return 0;
    }
    // What the others did with the object comes before its end.
    fence(Ordering::Acquire);
    // SAFETY: the last reference is gone, and `Ref::new` made the object with `Box`.
    drop(unsafe { Box::from_raw(this.cast::<Object<I, D>>()) });
    1
}

unsafe extern "C" fn has_one_ref<I, D>(this: *mut sys::cef_base_ref_counted_t) -> c_int {
    // SAFETY: as in `add_ref`.
    c_int::from(unsafe { references::<I, D>(this) }.load(Ordering::Acquire) == 1)
}

unsafe extern "C" fn has_at_least_one_ref<I, D>(this: *mut sys::cef_base_ref_counted_t) -> c_int {
    // SAFETY: as in `add_ref`.
    c_int::from(unsafe { references::<I, D>(this) }.load(Ordering::Acquire) >= 1)
}

/// Command-line arguments as C has them.
struct Arguments {
    pointers: Vec<*mut c_char>,
    _texts: Vec<CString>,
}

impl Arguments {
    fn new(arguments: impl Iterator<Item = OsString>) -> Self {
        // An argument holds no NUL: it came from C.
        let texts: Vec<_> = arguments.filter_map(|text| CString::new(text.into_vec()).ok()).collect();
        let pointers = texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect();
        Arguments { pointers, _texts: texts }
    }

    /// Valid while this lives. CEF only reads them.
    fn as_cef(&mut self) -> sys::cef_main_args_t {
        let argc = c_int::try_from(self.pointers.len().saturating_sub(1)).unwrap_or(c_int::MAX);
        sys::cef_main_args_t { argc, argv: self.pointers.as_mut_ptr() }
    }
}

/// A string in CEF's encoding.
struct Text(Vec<u16>);

impl Text {
    /// Valid while this lives. Without a destructor CEF copies it and leaves it alone.
    fn lend(&self) -> sys::cef_string_t {
        sys::cef_string_t { str_: self.0.as_ptr().cast_mut(), length: self.0.len(), dtor: None }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.encode_utf16().collect())
    }
}

impl From<&Path> for Text {
    fn from(path: &Path) -> Self {
        Text::from(&*path.to_string_lossy())
    }
}

fn read(text: &sys::cef_string_t) -> String {
    if text.str_.is_null() {
        return String::new();
    }
    // SAFETY: a string of CEF is that many units long.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(text.str_, text.length) })
}
