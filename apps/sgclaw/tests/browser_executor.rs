//! The executor in a real Chromium, action by action. Run it by name:
//! `cargo test -p sgclaw-cli --test browser_executor`.

mod support;

use serde_json::{Value, json};
use support::{Browser, ok};

#[test]
fn a_click_reaches_the_button() {
    let mut browser = Browser::on("<button onclick=\"this.textContent='done'\">go</button>");
    assert_eq!(ok(browser.act("click", json!({"selector": "button"}))), json!({}));
    assert_eq!(browser.text("button"), "done");
}

#[test]
fn typed_text_arrives_by_keys_and_by_insertion() {
    let mut browser = Browser::on(
        "<input value=x onkeydown=\"window.n=(window.n||0)+1;document.title=n\"><p id=t></p>
         <script>document.querySelector('input').oninput=e=>t.textContent=e.target.value</script>",
    );
    ok(browser.act("type", json!({"selector": "input", "text": "A1 你好👩‍🚀!"})));
    assert_eq!(browser.text("#t"), "xA1 你好👩‍🚀!");
    ok(browser.act("type", json!({"selector": "input", "text": "new", "clear": true})));
    assert_eq!(browser.text("#t"), "new");
}

#[test]
fn navigate_tells_the_status() {
    let mut browser = Browser::on("one");
    let url = browser.page("<h1>two</h1>");
    let went = ok(browser.act("navigate", json!({"url": url})));
    assert_eq!(went, json!({"url": url, "status": 200}));
    let went = ok(browser.act("navigate", json!({"url": format!("{url}#x")})));
    assert_eq!(went, json!({"url": format!("{url}#x"), "status": null}));
    let back = ok(browser.act("goBack", json!({})));
    assert_eq!(back, json!({"url": url, "status": null}));
    ok(browser.act("goForward", json!({})));
    assert_eq!(ok(browser.act("reload", json!({})))["status"], 200);
}

#[test]
fn history_and_reload_need_no_right_to_navigate() {
    let mut browser = Browser::on("one");
    let two = browser.page("<h1>two</h1>");
    ok(browser.act("navigate", json!({"url": two})));
    browser.allow_only(&["reload", "goBack", "goForward"]);
    assert_eq!(ok(browser.act("reload", json!({})))["status"], 200);
    ok(browser.act("goBack", json!({})));
    assert_eq!(ok(browser.act("goForward", json!({})))["url"], two);
    assert_eq!(browser.act("navigate", json!({"url": two})).expect_err("a refusal").0, "MAC_ACTION_DENIED");
}

#[test]
fn navigations_that_do_not_arrive_say_why() {
    let mut browser = Browser::on("one");
    let origin = browser.origin();
    let reason = |outcome: Result<Value, (String, Value)>| {
        let (code, details) = outcome.expect_err("a failure");
        assert_eq!(code, "CMD_NAVIGATION_FAILED");
        details["reason"].as_str().expect("a reason").to_owned()
    };
    assert_eq!(reason(browser.act("goForward", json!({}))), "no_history");
    assert_eq!(reason(browser.act("navigate", json!({"url": format!("{origin}/204")}))), "no_content");
    assert_eq!(reason(browser.act("navigate", json!({"url": format!("{origin}/download")}))), "download");
    let slow = json!({"url": format!("{origin}/slow"), "timeout_ms": 500});
    assert_eq!(reason(browser.act("navigate", slow)), "timeout");
    assert_eq!(reason(browser.act("navigate", json!({"url": "http://127.0.0.1:1/"}))), "network");
}

#[test]
fn a_redirect_to_a_host_that_is_not_allowed_stops() {
    let mut browser = Browser::on("<p>one</p>");
    let url = format!("{}/redirect?https://other.example/", browser.origin());
    let (code, _) = browser.act("navigate", json!({"url": url})).expect_err("a refusal");
    assert_eq!(code, "MAC_DOMAIN_DENIED");
    assert_eq!(browser.text("p"), "one");
}

#[test]
fn a_click_on_a_link_answers_after_the_commit() {
    let mut browser = Browser::on("one");
    let two = browser.page("<h1>two</h1>");
    let one = browser.page(&format!("<a href='{two}'>go</a><a id=b target=_blank href='{two}'>tab</a>"));
    ok(browser.act("navigate", json!({"url": one})));
    let clicked = ok(browser.act("click", json!({"selector": "#b"})));
    let tab = clicked["opened_tab"].as_str().expect("a tab").to_owned();
    assert_eq!(ok(browser.act("click", json!({"selector": "a"}))), json!({"navigation": "committed"}));
    assert_eq!(browser.text("h1"), "two");
    let tabs = ok(browser.act("listTabs", json!({})));
    assert_eq!(tabs["tabs"].as_array().expect("tabs").len(), 2);
    ok(browser.act("activateTab", json!({"tab_id": tab})));
    assert_eq!(browser.text("h1"), "two");
}

#[test]
fn a_click_in_a_tab_that_the_page_opened_is_delivered() {
    let mut browser = Browser::on("one");
    let two = browser.page(
        "<button id=b onclick=\"this.textContent='done'\">b</button><button id=q onclick=window.close()>q</button>",
    );
    let one = browser.page(&format!(
        "<button onclick=\"window.open('{two}')\">open</button><a target=_blank rel=opener href='{two}'>tab</a>"
    ));
    for opener in ["button", "a"] {
        ok(browser.act("navigate", json!({"url": one})));
        let clicked = ok(browser.act("click", json!({"selector": opener})));
        ok(browser.act("activateTab", json!({"tab_id": clicked["opened_tab"]})));
        ok(browser.act("waitFor", json!({"selector": "#b"})));
        assert_eq!(ok(browser.act("click", json!({"selector": "#b"}))), json!({}), "{opener}");
        assert_eq!(browser.text("#b"), "done");
        match browser.act("click", json!({"selector": "#q"})) {
            Ok(_) => {}
            Err((code, details)) => {
                assert_eq!(
                    (code.as_str(), &details["reason"]),
                    ("CMD_EXECUTION_FAILED", &json!("tab_closed"))
                );
            }
        }
        assert_eq!(browser.text(opener), if opener == "a" { "tab" } else { "open" });
    }
}

#[test]
fn a_locked_pointer_is_let_go() {
    let mut browser = Browser::on(
        "<button id=l onclick=\"document.body.requestPointerLock().then(()=>this.textContent='locked')\">l</button>
         <button id=b onclick=\"this.textContent='done'\">b</button>",
    );
    ok(browser.act("click", json!({"selector": "#l"})));
    while browser.text("#l") != "locked" {}
    ok(browser.act("click", json!({"selector": "#b", "timeout_ms": 3000})));
    assert_eq!(browser.text("#b"), "done");
}

#[test]
fn dialogs_are_dismissed_and_told() {
    let mut browser = Browser::on("<button onclick=\"this.textContent=confirm('sure?')\">go</button>");
    let clicked = ok(browser.act("click", json!({"selector": "button"})));
    assert_eq!(clicked, json!({"dialogs": [{"type": "confirm", "message": "sure?"}]}));
    assert_eq!(browser.text("button"), "false");
}

#[test]
fn waiting_ends_with_the_reason() {
    let mut browser = Browser::on(
        "<button id=off disabled>a</button><button id=under>b</button><p id=hid hidden>c</p>
         <div style='position:fixed;inset:0;background:red' id=cover></div><input id=ro readonly>
         <button id=inert inert>d</button>",
    );
    for (action, selector, reason) in [
        ("click", "#none", "not_found"),
        ("click", "#off", "disabled"),
        ("click", "#under", "covered"),
        ("hover", "#hid", "hidden"),
        ("click", "#inert", "inert"),
        ("type", "#ro", "readonly"),
    ] {
        let params = json!({"selector": selector, "timeout_ms": 300});
        let params = if action == "type" {
            json!({"selector": selector, "timeout_ms": 300, "text": "x"})
        } else {
            params
        };
        let (code, details) = browser.act(action, params).expect_err(selector);
        assert_eq!(
            (code.as_str(), &details["reason"]),
            ("CMD_SELECTOR_TIMEOUT", &json!(reason)),
            "{selector}"
        );
    }
    let (code, _) = browser.act("click", json!({"selector": "a::b(("})).expect_err("no CSS");
    assert_eq!(code, "CMD_SELECTOR_INVALID");
}

#[test]
fn fields_and_keys() {
    let mut browser = Browser::on(
        "<select><option value=a>Aa<option value=b>Bb</select><select id=m multiple><option>x<option>y<option>z</select>
         <input id=d type=date><input id=i value=abc><textarea></textarea><div id=c contenteditable>q</div>",
    );
    assert_eq!(
        ok(browser.act("select", json!({"selector": "select", "label": "Bb"}))),
        json!({"values": ["b"]})
    );
    let both = json!({"selector": "#m", "value": ["x", "z"]});
    assert_eq!(ok(browser.act("select", both)), json!({"values": ["x", "z"]}));
    ok(browser.act("type", json!({"selector": "#d", "text": "2024-02-29"})));
    let value = |browser: &mut Browser, selector: &str| {
        ok(browser.act("getAttribute", json!({"selector": selector, "name": "value"})))["value"].clone()
    };
    assert_eq!(value(&mut browser, "#d"), "2024-02-29");
    let (_, details) = browser.act("type", json!({"selector": "#d", "text": "soon"})).expect_err("no date");
    assert_eq!(details["reason"], "invalid_value");
    ok(browser.act("pressKey", json!({"selector": "#i", "key": "Control+A"})));
    ok(browser.act("pressKey", json!({"key": "Backspace"})));
    assert_eq!(value(&mut browser, "#i"), "");
    ok(browser.act("type", json!({"selector": "textarea", "text": "a\nb"})));
    assert_eq!(value(&mut browser, "textarea"), "a\nb");
    let (_, details) = browser.act("type", json!({"selector": "#i", "text": "a\nb"})).expect_err("one line");
    assert_eq!(details["reason"], "newline_in_single_line");
    ok(browser.act("type", json!({"selector": "#c", "text": "rs"})));
    assert_eq!(browser.text("#c"), "qrs");
}

#[test]
fn the_first_key_after_a_navigation_is_not_lost() {
    // Chromium drops input to a document that it has not drawn yet.
    let mut browser = Browser::on("one");
    let url = browser.page("<p id=t></p><script>onkeydown=e=>t.textContent+=e.key</script>");
    for _ in 0..20 {
        ok(browser.act("navigate", json!({"url": url})));
        ok(browser.act("pressKey", json!({"key": "a"})));
        assert_eq!(browser.text("#t"), "a");
    }
}

#[test]
fn frames_are_reached_through_transforms() {
    let inner = "<body style=margin:3px><iframe id=i style='border:2px solid;width:120px;height:80px' \
        srcdoc='<button onclick=this.textContent=1>b</button>'></iframe>";
    let inner = inner.replace('&', "&amp;").replace('"', "&quot;");
    let mut browser = Browser::on(&format!(
        "<div style=height:2000px></div><iframe id=o style='border:7px solid;padding:5px;width:300px;height:200px;\
         transform:rotate(10deg) scale(.8)' srcdoc=\"{inner}\"></iframe>"
    ));
    ok(browser.act("click", json!({"selector": "button", "frame": ["#o", "#i"]})));
    let text = ok(browser.act("getText", json!({"selector": "button", "frame": ["#o", "#i"]})));
    assert_eq!(text["text"], "1");
    // Another site: another process.
    let inside = browser.page("<button onclick=this.textContent=2>b</button><input>");
    let inside = inside.replace("127.0.0.1", "localhost");
    let around =
        browser.page(&format!("<iframe style='margin:50px;border:9px solid' src='{inside}'></iframe>"));
    ok(browser.act("navigate", json!({"url": around})));
    browser.domain = "localhost".to_owned();
    ok(browser.act("click", json!({"selector": "button", "frame": ["iframe"]})));
    ok(browser.act("type", json!({"selector": "input", "frame": ["iframe"], "text": "abc"})));
    let text = ok(browser.act("getText", json!({"selector": "button", "frame": ["iframe"]})));
    assert_eq!(text["text"], "2");
    let value =
        ok(browser.act("getAttribute", json!({"selector": "input", "frame": ["iframe"], "name": "value"})));
    assert_eq!(value["value"], "abc");
    browser.domain = "127.0.0.1".to_owned();
    let (code, _) =
        browser.act("getText", json!({"selector": "button", "frame": ["iframe"]})).expect_err("mismatch");
    assert_eq!(code, "MAC_DOMAIN_MISMATCH");
}

#[test]
fn a_sandboxed_frame_is_refused() {
    let mut browser = Browser::on("<iframe sandbox srcdoc='<p>x</p>'></iframe>");
    let (code, _) =
        browser.act("getText", json!({"selector": "p", "frame": ["iframe"]})).expect_err("opaque");
    assert_eq!(code, "MAC_DOMAIN_MISMATCH");
}

#[test]
fn reading_scrolling_pictures() {
    let mut browser = Browser::on("<p>a<b>b</b></p><my-x></my-x><div style=height:3000px></div><i>end</i>
        <script>document.querySelector('my-x').attachShadow({mode:'open'}).innerHTML='<u>shadow</u>'</script>");
    assert_eq!(
        ok(browser.act("getHtml", json!({"selector": "p"}))),
        json!({"html": "a<b>b</b>", "truncated": false})
    );
    assert_eq!(browser.text("my-x u"), "shadow");
    let cut = ok(browser.act("getText", json!({"selector": "p", "max_length": 1})));
    assert_eq!(cut, json!({"text": "a", "truncated": true}));
    let at = ok(browser.act("scroll", json!({"dy": 100})));
    assert_eq!(at, json!({"x": 0, "y": 100}));
    assert!(ok(browser.act("scroll", json!({"selector": "i"})))["y"].as_f64().expect("y") > 1000.0);
    ok(browser.act("waitFor", json!({"selector": "#none", "state": "detached"})));
    for format in ["png", "jpeg"] {
        let picture = ok(browser.act("screenshot", json!({"format": format})));
        assert!(picture["width"].as_u64().expect("width") > 500, "{}", picture["width"]);
    }
    let picture = ok(browser.act("screenshot", json!({"selector": "i"})));
    assert!(picture["width"].as_u64().expect("width") < 100);
}

#[test]
fn a_crashed_page_comes_back_by_navigate() {
    let mut browser = Browser::on("<p>x</p>");
    browser.crash();
    let (code, _) = browser.act("getText", json!({"selector": "p"})).expect_err("a crash");
    assert_eq!(code, "CMD_PAGE_CRASHED");
    let url = browser.page("<p>back</p>");
    ok(browser.act("navigate", json!({"url": url})));
    assert_eq!(browser.text("p"), "back");
}

#[test]
fn navigate_gets_out_of_an_endless_script() {
    let mut browser = Browser::on("<button onclick='for(;;);'>x</button>");
    let (code, _) =
        browser.act("click", json!({"selector": "button", "timeout_ms": 500})).expect_err("stuck");
    assert_eq!(code, "CMD_TIMEOUT");
    let url = browser.page("<p>back</p>");
    ok(browser.act("navigate", json!({"url": url})));
    assert_eq!(browser.text("p"), "back");
}

#[test]
fn navigate_gets_out_of_an_endless_farewell() {
    for (handler, name) in [
        ("onbeforeunload=", "beforeunload"),
        ("onunload=", "unload"),
        ("onpagehide=", "pagehide"),
        ("document.onvisibilitychange=", "visibilitychange"),
    ] {
        for host in ["127.0.0.1", "localhost"] {
            // A page that nobody has touched is not asked before it is left.
            let mut browser = Browser::on(&format!("<p>x</p><script>{handler}()=>{{for(;;);}}</script>"));
            ok(browser.act("click", json!({"selector": "p"})));
            let url = browser.page("<p>back</p>").replace("127.0.0.1", host);
            browser.domain = host.to_owned();
            let went = ok(browser.act("navigate", json!({"url": url, "timeout_ms": 3000})));
            assert_eq!(went, json!({"url": url, "status": 200}), "{name} to {host}");
            assert_eq!(browser.text("p"), "back", "{name} to {host}");
            let tabs = ok(browser.act("listTabs", json!({})));
            assert_eq!(tabs["tabs"].as_array().expect("tabs").len(), 1, "{name} to {host}");
        }
    }
}
