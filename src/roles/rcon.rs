//! Remote console role (`fragd rcon`).

use std::{
    env,
    io::{BufRead as _, Write as _},
    net::SocketAddr,
    time::Duration,
};

use fragd::{
    cli::{ExitStatus, RconArguments},
    discovery::Family,
    io::{self, Clock, Colors, LineEditor, Options, Sockets},
    model::{Millis, UnixMillis},
    rcon::{self, RconAnswer, RconClient, RconOptions, RconResult, SecureMode},
};

use super::output::Output;

/// Environment variable that holds the password.
const PASSWORD_VARIABLE: &str = "FRAGD_RCON_PASSWORD";
/// Longest file of a password, in bytes.
const MAX_PASSWORD_FILE: u64 = 4096;
/// Commands sent at once, and the interval of further ones. Servers drop more than ten, then more than one a second, in
/// silence; the challenge request is one of them.
const BURST: u32 = 8;
const PERIOD: Millis = Millis(1050);

/// Sends commands to the console of a server and prints its answers.
pub(crate) fn run(asked: &RconArguments) -> ExitStatus {
    match Session::start(asked) {
        Ok(session) => session.run(),
        Err((what, status)) => {
            eprintln!("fragd: {what}");
            status
        }
    }
}

/// Commands to one server.
struct Session<'a> {
    asked: &'a RconArguments,
    password: String,
    candidates: Vec<SocketAddr>,
    family: Option<Family>,
    clock: Clock,
    began: UnixMillis,
    /// Commands sent in the present burst, and the time that the next burst begins.
    sent: u32,
    next: Millis,
    output: Output,
    colors: Colors,
}

impl<'a> Session<'a> {
    fn start(asked: &'a RconArguments) -> Result<Self, (String, ExitStatus)> {
        let usage = |what| (what, ExitStatus::UsageError);
        let password = password(asked).map_err(usage)?;
        rcon::check_password(&password).map_err(|error| usage(error.to_string()))?;
        let server = io::resolve(&asked.server.to_string(), asked.server.port)
            .map_err(|what| (what, ExitStatus::Failed))?;
        let candidates = asked.ports().into_iter().map(|port| SocketAddr::new(server.ip(), port));
        Ok(Self {
            asked,
            password,
            candidates: candidates.collect(),
            family: asked.game.map(|game| game.family),
            clock: Clock::start(),
            began: UnixMillis(io::unix_millis()),
            sent: 0,
            next: Millis(0),
            output: Output::new(),
            colors: Colors::of_stdout(),
        })
    }

    fn run(mut self) -> ExitStatus {
        let status = if self.asked.command.is_empty() {
            self.run_lines()
        } else {
            self.run_command(&self.asked.command.join(" "))
        };
        self.output.end(status)
    }

    /// Runs the lines of standard input up to the first that fails. On a terminal they are edited.
    fn run_lines(&mut self) -> ExitStatus {
        let editor = LineEditor::is_available()
            .then(|| LineEditor::plain("rcon> ", super::is_secret_line))
            .transpose();
        let mut editor = match editor {
            Ok(editor) => editor,
            Err(error) => return self.fail_input(&error),
        };
        loop {
            let line = match next_line(editor.as_mut()) {
                Ok(Some(line)) => line,
                Ok(None) => return ExitStatus::Done,
                Err(error) => return self.fail_input(&error),
            };
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let status = self.run_command(line);
            let _ = self.output.flush();
            // A command that stops the server has no answer.
            let is_over = editor.is_none() || status != ExitStatus::NoAnswer;
            if status != ExitStatus::Done && is_over {
                return status;
            }
        }
    }

    fn fail_input(&mut self, error: &std::io::Error) -> ExitStatus {
        self.output.report(format_args!("standard input not readable: {error}"));
        ExitStatus::Failed
    }

    fn run_command(&mut self, command: &str) -> ExitStatus {
        match self.ask(command) {
            Ok((server, RconResult::Answered(answer))) => {
                self.print(server, command, &answer);
                ExitStatus::Done
            }
            Ok((server, result)) => self.report(server, &result),
            Err((what, status)) => {
                self.output.report(what);
                status
            }
        }
    }

    /// Sends a command and waits for its answer. A port of its own keeps late packets out of the next answer.
    fn ask(&mut self, command: &str) -> Result<(SocketAddr, RconResult), (String, ExitStatus)> {
        let failed = |what| (what, ExitStatus::Failed);
        let now = self.clock.now();
        let options = RconOptions {
            candidates: self.candidates.clone(),
            family: self.family,
            password: self.password.clone(),
            is_plain: self.asked.plain,
            secure: self.asked.secure,
            command: command.to_owned(),
            not_before: self.next_slot(now),
            timeout: Millis(u64::from(self.asked.timeout_ms)),
            silence: Millis(u64::from(self.asked.silence_ms)),
            began: self.began,
        };
        let mut client = RconClient::new(options, now)
            .map_err(|error| (error.to_string(), ExitStatus::UsageError))?;
        let first = self.candidates[0];
        let sockets =
            Sockets::ephemeral(1, first.ip()).map_err(|error| failed(error.to_string()))?;
        io::run(&mut client, sockets, &self.clock, Options::default())
            .map_err(|error| failed(format!("event loop failed: {error}")))?;
        if let Some((server, family)) = client.server() {
            (self.candidates, self.family) = (vec![server], Some(family));
        }
        Ok((self.candidates[0], client.result().clone()))
    }

    /// Returns the time at which the next command may be sent.
    fn next_slot(&mut self, now: Millis) -> Millis {
        self.sent += 1;
        let slot = if self.sent <= BURST { now } else { now.max(self.next) };
        self.next = slot + PERIOD;
        slot
    }

    fn print(&mut self, server: SocketAddr, command: &str, answer: &RconAnswer) {
        if self.asked.json {
            let word = match self.family {
                Some(Family::QuakeWorld) => "qw",
                _ => "q3",
            };
            let game = self.asked.game.map_or(word, |game| game.word);
            let object = serde_json::json!({
                "server": server.to_string(),
                "game": game,
                "command": command,
                "answer": answer.text,
                "packets": answer.packets,
                "milliseconds": answer.first.0,
                "complete": !answer.is_cut,
            });
            self.output.line(object);
            return;
        }
        let shown = self.colors.shown(&answer.text);
        let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        let _ = write!(self.output, "{shown}{end}");
        if answer.is_cut {
            self.output.report("answer too long: the rest is left out");
        }
    }

    /// Further reasons of the silence of a server.
    const fn secure_hint(&self) -> &'static str {
        match self.asked.secure {
            Some(SecureMode::Time) => ", and if its clock differs (rcon_secure_maxdiff)",
            Some(SecureMode::Challenge) => "",
            None => ", and with rcon_secure above 0",
        }
    }

    /// Reports a command without an answer.
    fn report(&mut self, server: SocketAddr, result: &RconResult) -> ExitStatus {
        let timeout = Duration::from_millis(self.asked.timeout_ms.into());
        match result {
            RconResult::Refused(text) => {
                let is_quakeworld = self.family == Some(Family::QuakeWorld);
                let hint = match (is_quakeworld && self.asked.secure.is_none(), self.asked.plain) {
                    (true, false) => " (sv_crypt_rcon 0 of the server needs --plain)",
                    (true, true) => " (sv_crypt_rcon 1 of the server needs a run without --plain)",
                    (false, _) => "",
                };
                self.output.report(format_args!("{server} refused the password: {text}{hint}"));
                ExitStatus::Refused
            }
            RconResult::Silent => {
                self.output.report(format_args!(
                    "no answer from {server} within {timeout:?}: the command may have run (a server is silent \
                     towards networks that it does not allow, e.g. by sv_rconAllow, and after wrong passwords{})",
                    self.secure_hint()
                ));
                ExitStatus::NoAnswer
            }
            RconResult::NoServer | RconResult::Answered(_) => {
                let asked: Vec<_> = self.candidates.iter().map(ToString::to_string).collect();
                self.output.report(format_args!(
                    "no answer from {} within {timeout:?}: is a server running there, and does a firewall let \
                     UDP through? --game sends the command without a request before it",
                    asked.join(" or ")
                ));
                ExitStatus::NoAnswer
            }
        }
    }
}

/// Returns the next line of standard input; none at its end.
fn next_line(editor: Option<&mut LineEditor>) -> std::io::Result<Option<String>> {
    let Some(editor) = editor else {
        let mut line = String::new();
        let count = std::io::stdin().lock().read_line(&mut line)?;
        return Ok((count > 0).then_some(line));
    };
    editor.read_line()
}

/// Reads the password: from the file, the environment or the terminal.
fn password(asked: &RconArguments) -> Result<String, String> {
    if let Some(path) = &asked.password_file {
        let bytes = io::read_file(path, MAX_PASSWORD_FILE).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("{}: not UTF-8; save the file as UTF-8", path.display()))?;
        let line = text.lines().next().unwrap_or_default().trim_end();
        if line.is_empty() {
            return Err(format!("{}: no password in its first line", path.display()));
        }
        return Ok(line.to_owned());
    }
    if let Some(value) = env::var_os(PASSWORD_VARIABLE).filter(|value| !value.is_empty()) {
        return value.into_string().map_err(|_| format!("{PASSWORD_VARIABLE}: not UTF-8"));
    }
    io::terminal::read_secret("rcon password: ").map_err(|error| {
        format!(
            "no password: {error} (expected --password-file, {PASSWORD_VARIABLE} or a terminal)"
        )
    })
}
