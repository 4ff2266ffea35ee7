//! Interface of a serving node: what its connections are served.

use std::borrow::Cow;

use super::{
    AdmissionLimits, Connections, ReceiveBuffer, Role, Slots, Timeouts, send::GamestateOverflow,
};
use crate::{
    limits::QueryLimits,
    model::{CommandNum, Sequence, UserCmd},
    node::Route,
    observe::Counter,
    wire::{
        Protocol,
        connectionless::{GetChallenge, Rcon, StatusPlayer},
        info::InfoString,
        secure_rcon::SecureRcon,
        text::WireText,
    },
};

/// Number of a slot of a service.
pub(crate) type KeyOf<S> = <<S as Service>::Role as Role>::Key;

/// Request to a remote console.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RconRequest<'a> {
    /// With the password.
    Plain(Rcon<'a>),
    /// With a code in place of the password.
    Signed(SecureRcon<'a>),
}

/// Treatment of a connectionless packet before it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It belongs to another service of the node, which has handled it.
    Handled,
    /// Question of a master, which has no limit.
    Probe,
    /// Within the limits of its class.
    Limited,
}

/// Node that serves connections. The provided methods are the same for every node.
pub(crate) trait Service: Sized {
    type Role: Role;

    /// Parts that sending needs.
    fn connections(&mut self) -> Connections<'_, Self::Role>;
    fn slots(&self) -> &Slots<Self::Role>;
    /// Memory of the message that is processed; none before the first.
    fn receive_buffer(&mut self) -> &mut Option<Box<ReceiveBuffer>>;

    /// Whether the gamestate of the level is complete.
    fn has_gamestate(&self) -> bool;
    /// Name of the level in log lines.
    fn level_name(&self) -> String;

    /// Handles a connectionless packet that is not for clients.
    fn intercept(&mut self, route: Route, datagram: &[u8]) -> Passage {
        let _ = (route, datagram);
        Passage::Limited
    }
    /// Game name, which clients other than those of protocol 68 have to name.
    fn gamename(&self) -> Cow<'_, str>;
    /// Answers a request for a challenge with the right game name.
    fn answer_challenge(&mut self, route: Route, request: GetChallenge<'_>, is_probe: bool);
    /// Runs a command of a remote console.
    fn run_rcon(&mut self, route: Route, request: RconRequest<'_>) {
        let _ = (route, request);
        self.connections().stats.bump(Counter::ConnectionlessIgnored);
    }
    /// Limits of answers to queries; `None` if no query is answered.
    fn query_limits(&self) -> Option<QueryLimits>;
    /// Response to getinfo, with the challenge that it echoes.
    fn info_response(&self, challenge: Option<WireText<'_>>) -> InfoString;
    /// Response to getstatus without the echoed challenge.
    fn status_response(&self) -> (InfoString, Vec<StatusPlayer<'_>>);

    /// Limits of connects from an address.
    fn admission_limits(&self, route: Route) -> AdmissionLimits;
    /// Protocol with that number, and whether the number alone tells it.
    ///
    /// # Errors
    /// The number is not accepted, with a reason if another level or rule would change that.
    fn protocol_of(&self, number: i32) -> Result<(&'static Protocol, bool), Option<String>>;
    /// Slots that a client with a proven address and this userinfo may use.
    ///
    /// # Errors
    /// The refusal text of a client that is banned.
    fn slots_for(
        &self,
        route: Route,
        info: &InfoString,
    ) -> Result<impl Iterator<Item = KeyOf<Self>>, String>;
    /// Whether a slot is free.
    fn is_free(&self, key: KeyOf<Self>) -> bool {
        self.slots().get(key).is_none()
    }
    /// Stores the userinfo of a client, with the name and send rate in it.
    fn store_userinfo(&mut self, key: KeyOf<Self>, info: InfoString);
    /// Connects a client whose slot is taken.
    ///
    /// # Errors
    /// The refusal text sent to the client.
    fn connect(&mut self, key: KeyOf<Self>) -> Result<(), String> {
        let _ = key;
        Ok(())
    }

    /// Requests the memory that the usercmds of a client need.
    fn expect_usercmds(&mut self, key: KeyOf<Self>) {
        let _ = key;
    }
    /// Whether commands of a client run before it has the level, as those of a download do.
    fn runs_without_level(&self, key: KeyOf<Self>, commands: &[(CommandNum, String)]) -> bool {
        let _ = (key, commands);
        false
    }
    /// Runs a reliable command. Returns false if the client must resend it, as if it had not arrived.
    fn run_command(&mut self, key: KeyOf<Self>, text: &str) -> bool;
    /// Records the newest message that a client has.
    fn record_acknowledged(&mut self, key: KeyOf<Self>, acknowledged: Sequence) {
        let _ = (key, acknowledged);
    }
    /// Runs the usercmds of a message, of which there is one at least.
    fn run_usercmds(&mut self, key: KeyOf<Self>, usercmds: &[UserCmd]);

    /// Times after which clients are dropped.
    fn timeouts(&self) -> Timeouts;
    /// Drops a client with a reason. Its slot is a zombie until the client has received the reason.
    fn drop_client(&mut self, key: KeyOf<Self>, reason: &str);

    /// Sends the last commands to a client as the node stops, without rate delay.
    fn send_last(&mut self, key: KeyOf<Self>);

    /// Drops the clients whose drop was requested meanwhile.
    fn process_pending_drops(&mut self) {
        // A drop may cause another, since its print may overflow a queue. Each client is dropped once.
        while let Some((key, reason)) = self.connections().drops.pop() {
            self.drop_client(key, &reason);
        }
    }

    /// Sends the gamestate to a client that joins.
    fn send_gamestate(&mut self, key: KeyOf<Self>) {
        if !self.has_gamestate() {
            // The next level has another gamestate; this one may lack configstrings.
            return;
        }
        if let Err(GamestateOverflow) = self.connections().send_gamestate(key) {
            log::error!("{}: gamestate exceeds a message", self.level_name());
            self.drop_client(key, "gamestate overflow");
        }
    }

    /// Resends gamestates to clients that have lost theirs.
    fn resend_gamestates(&mut self) {
        let now = self.connections().now;
        for key in self.slots().keys() {
            let due = self.slots().get(key).and_then(|client| client.gamestate_due());
            if due.is_some_and(|due| due <= now) {
                self.send_gamestate(key);
            }
        }
    }
}
