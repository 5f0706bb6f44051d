//! A headless Chromium, driven over its DevTools protocol: JSON messages, each ended by a zero byte, on the inherited descriptors
//! 3 (to the browser) and 4 (from it). It is given no network; what it would have asked for is recorded.

use fathom_testkit::{TestDir, find_tool, skip};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest wait for an answer or a condition: WebGL without a GPU on a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(90);

/// A browser with one tab.
pub struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Errors on the console, exceptions, and requests that left the file: empty for a page in order.
    pub complaints: Vec<String>,
    loaded: bool,
    /// A picture of more than the window makes a page lay out and draw all its surfaces; without scripts that costs nothing, and
    /// frames that could be waited for after scrolling do not come.
    scripts: bool,
    _profile: TestDir,
}

impl Browser {
    /// Starts one; `None`, with the skip recorded, if there is none on this machine or it does not start.
    pub fn start(test: &str) -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let Some(program) = names.iter().find_map(|name| find_tool(name)) else {
            skip(test, "needs the program chromium, which is not installed");
            return None;
        };
        let profile = TestDir::new();
        let (for_browser, commands) = pipe();
        let (answers, from_browser) = pipe();
        let mut command = Command::new(program);
        command.args([
            "--headless=new",
            "--remote-debugging-pipe",
            // Root has no sandbox, and a container often has neither user namespaces nor a large /dev/shm.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.env("HOME", profile.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (read_end, write_end) = (for_browser.as_raw_fd(), from_browser.as_raw_fd());
        command.process_group(0);
        // SAFETY: between fork and exec only dup2 is called, on descriptors that are open and above 4.
        unsafe {
            command.pre_exec(move || {
                if libc::dup2(read_end, 3) < 0 || libc::dup2(write_end, 4) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = match command.spawn() {
            Ok(child) => child,
            Err(e) => {
                skip(test, &format!("chromium could not be started: {e}"));
                return None;
            }
        };
        drop((for_browser, from_browser));
        let mut browser = Self {
            child,
            commands: File::from(commands),
            messages: reader(File::from(answers)),
            session: None,
            last_id: 0,
            complaints: Vec::new(),
            loaded: false,
            scripts: true,
            _profile: profile,
        };
        if let Err(why) = browser.open_tab() {
            skip(test, &format!("chromium does not work here: {why}"));
            return None;
        }
        Some(browser)
    }

    fn open_tab(&mut self) -> Result<(), String> {
        let tab = self.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", attach)?;
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(())
    }

    /// Sends a command and waits for its answer; events that come meanwhile are noted.
    fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let sent = self.commands.write_all(format!("{message}\0").as_bytes());
        sent.map_err(|e| format!("{method} could not be sent: {e}"))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.next(deadline).ok_or_else(|| format!("no answer to {method}"))?;
            if message["id"] == self.last_id {
                return match message.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].clone()),
                };
            }
            self.note(&message);
        }
    }

    fn next(&mut self, deadline: Instant) -> Option<Value> {
        self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => self.loaded = true,
            "Runtime.exceptionThrown" => self.complaints.push(format!("exception: {params}")),
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                self.complaints.push(format!("console.error: {}", params["args"]));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.complaints.push(format!("error: {}", params["entry"]["text"]));
            }
            "Network.loadingFailed" => self.complaints.push(format!("a request failed: {params}")),
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                if !["file:", "data:", "blob:", "about:"].iter().any(|inside| url.starts_with(inside)) {
                    self.complaints.push(format!("asked for {url}"));
                }
            }
            _ => {}
        }
    }

    /// Sends a command that must succeed.
    #[track_caller]
    fn must(&mut self, method: &str, params: Value) -> Value {
        self.call(method, params).unwrap_or_else(|why| panic!("{why}"))
    }

    /// A window of this size, light or dark.
    pub fn window(&mut self, width: u32, height: u32, dark: bool) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.must("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.must("Emulation.setEmulatedMedia", features);
    }

    /// Whether pages run their scripts from now on; [`Browser::value`] works either way.
    pub fn scripts(&mut self, run: bool) {
        self.must("Emulation.setScriptExecutionDisabled", json!({ "value": !run }));
        self.scripts = run;
    }

    /// Opens a file and waits until it is loaded.
    #[track_caller]
    pub fn open(&mut self, page: &Path) {
        self.loaded = false;
        self.must("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        let deadline = Instant::now() + PATIENCE;
        while !self.loaded {
            let message = self.next(deadline).unwrap_or_else(|| panic!("{} was not loaded", page.display()));
            self.note(&message);
        }
    }

    /// Value of a JavaScript expression in the page; promises are waited for.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.must("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Sheets of A4 that the page is printed on.
    #[track_caller]
    pub fn sheets(&mut self) -> u64 {
        let a4 = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true });
        let printed = self.must("Page.printToPDF", a4);
        let pdf = printed["data"].as_str().expect("a document");
        let pages = self.value(&format!("atob('{pdf}').match(/\\/Type\\s*\\/Page\\b/g).length"));
        pages.as_u64().expect("a number of pages")
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.value(expression) != Value::Bool(true) {
            assert!(Instant::now() < deadline, "{expression} never became true; {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What is seen of the first element of a selector (scroll there first if scripts run): number of colours, and share of the most frequent one in percent.
    #[track_caller]
    pub fn colours_of(&mut self, selector: &str) -> (u64, f64) {
        let place = self.value(&format!(
            "(() => {{ const r = document.querySelector({selector:?}).getBoundingClientRect(); \
             return {{ x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1 }}; }})()"
        ));
        let shot = self.must(
            "Page.captureScreenshot",
            json!({ "format": "png", "clip": place, "captureBeyondViewport": !self.scripts }),
        );
        let png = shot["data"].as_str().expect("a picture");
        // The browser reads its own picture, so that no decoder is needed here.
        let counted = self.value(&format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,{png}'; await image.decode(); \
             const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0); \
             const data = pen.getImageData(0, 0, image.width, image.height).data, seen = new Map(); \
             for (let i = 0; i < data.length; i += 4) {{ const c = data[i] << 16 | data[i + 1] << 8 | data[i + 2]; seen.set(c, (seen.get(c) ?? 0) + 1); }} \
             return [seen.size, Math.max(...seen.values()) * 400 / data.length]; }})()"
        ));
        (counted[0].as_u64().unwrap_or(0), counted[1].as_f64().unwrap_or(100.0))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // SAFETY: kill takes two integers; the group is that of our own child, which has not been waited for yet.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        let _ = self.child.wait();
    }
}

/// A pipe whose ends lie above the descriptors the browser wants, and do not reach other programs.
fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors the call writes.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0, "a pipe: {}", std::io::Error::last_os_error());
    let [read, write] = ends.map(|end| {
        // SAFETY: the descriptor is open; the copy is owned by nobody else, and the original is closed once.
        unsafe {
            let copy = libc::fcntl(end, libc::F_DUPFD_CLOEXEC, 10);
            libc::close(end);
            assert!(copy >= 10, "a descriptor: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(copy)
        }
    });
    (read, write)
}

/// The browser's messages as they come.
fn reader(answers: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut answers = BufReader::new(answers);
        let mut message = Vec::new();
        while answers.read_until(0, &mut message).is_ok_and(|n| n > 0) {
            message.pop();
            let parsed = serde_json::from_slice(&message).unwrap_or(Value::Null);
            if sender.send(parsed).is_err() {
                return;
            }
            message.clear();
        }
    });
    receiver
}
