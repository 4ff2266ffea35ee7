//! Source of a broadcast: the interface between recorded or live play and its viewers.
//!
//! A [`Source`] tells a [`Sink`] a level, then frames, configstrings and commands in order, until the
//! next level or the loss of the source. A frame has one view (a demo, a spectator) or one for each
//! player (a multi-view file, a stream).
//!
//! Invariants that a source keeps: a level comes before its first frame; times of frames grow within a
//! level; entities ascend by number. The sink checks all three and ignores what breaks them.

use std::net::SocketAddr;

use crate::{
    model::{ClientNum, ConfigIndex, EntitySet, EntityState, LevelTime, Millis, PlayerState, text},
    wire::snapshot::AreaMask,
};

/// A level: everything of a gamestate but the numbers of the connection.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Configstrings that are not empty.
    pub configstrings: Vec<(ConfigIndex, String)>,
    /// Baselines.
    pub baselines: Vec<EntityState>,
    /// Client number of a spectator of the source, which no player has. Without one, viewers get the
    /// highest number without a player.
    pub spectator: Option<ClientNum>,
}

/// Entities that a view shows.
#[derive(Clone, Copy, Debug)]
pub enum Visible<'a> {
    /// All entities of the frame.
    All,
    /// The entities of this set that are in the frame.
    Set(&'a EntitySet),
}

/// View of one player in a frame.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The player, by which viewers follow. A frame has at most one view of a player.
    pub player: ClientNum,
    /// Playerstate as the player or a spectator of the player is sent it.
    pub state: &'a PlayerState,
    /// Visible entities.
    pub visible: Visible<'a>,
    /// Area mask.
    pub areas: AreaMask,
}

/// A frame of a level.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Server time.
    pub time: LevelTime,
    /// Whether the level was restarted an odd number of times ([`SnapFlags::SERVER_COUNT`]).
    ///
    /// [`SnapFlags::SERVER_COUNT`]: crate::wire::snapshot::SnapFlags::SERVER_COUNT
    pub is_odd: bool,
    /// Entities of all views, ascending by number.
    pub entities: &'a [EntityState],
    /// Views, at least one and at most 64.
    pub views: &'a [View<'a>],
}

/// Viewers that are sent a server command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every viewer.
    All,
    /// Viewers that follow this player.
    Followers(ClientNum),
}

/// Receiver of a source's output.
pub trait Sink {
    /// Starts a level. Every viewer is sent a gamestate.
    fn level(&mut self, level: Level);

    /// Changes a configstring of the level.
    fn configstring(&mut self, index: ConfigIndex, text: &str);

    /// Sends a server command for the game, e.g. `print`, `chat`, `cp`, `scores`. Configstrings have
    /// [`Sink::configstring`]; `disconnect` is ignored.
    fn command(&mut self, audience: Audience, text: &str);

    /// Shows a frame.
    fn frame(&mut self, frame: &Frame<'_>);

    /// Reports that the source is lost, or not there yet. Viewers see the last frame until the next level. Logged
    /// only behind a level.
    fn lost(&mut self, reason: &str);
}

/// Addition to the name of a source.
const NAME_ADDITION: &str = " (relay)";
/// Longest name of a source in front of it, in bytes.
const MAX_NAME_LEN: usize = 64;

/// Returns the name under which browsers list the relay of a server. A chain of relays says so once.
pub(super) fn relay_name(host_name: &str) -> String {
    let addition = if host_name.ends_with(NAME_ADDITION) { "" } else { NAME_ADDITION };
    format!("{}{addition}", text::truncated(host_name, MAX_NAME_LEN))
}

/// Request of a viewer or the operator to the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Stop the time, or let it run again if it is stopped.
    Pause,
    /// Speed of the time, 1 for real time.
    Speed(f32),
    /// Go to a position, in ms from the start.
    Seek(u64),
    /// Move by this time in ms.
    Skip(i64),
    /// Follow another player, for a source with one view.
    Follow(ClientNum),
    /// Follow the next player, for a source with one view.
    FollowNext,
}

/// Recorded or live play.
pub trait Source {
    /// Server name under which browsers list the broadcast, e.g. `Arena (relay)`.
    fn name(&self) -> String;

    /// Runs everything that is due at `now`. Bounded work: the rest is left to the next call.
    fn advance(&mut self, now: Millis, sink: &mut dyn Sink);

    /// Time of the next [`Source::advance`].
    fn next_due(&self) -> Millis;

    /// State as one line for the operator.
    fn status(&self, now: Millis) -> String;

    /// Handles a datagram that arrived on the source's own port.
    fn handle_datagram(
        &mut self,
        now: Millis,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) {
        let _ = (now, from, bytes, sink);
    }

    /// Moves the next datagram to send from the source's own port into `packet`.
    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        let _ = packet;
        None
    }

    /// Whether the source needs a UDP port of its own.
    fn has_port(&self) -> bool {
        false
    }

    /// Runs a request.
    ///
    /// # Errors
    /// The reason why the source does not do so, as a sentence for the viewer.
    fn control(&mut self, now: Millis, request: Control) -> Result<String, String> {
        let _ = (now, request);
        Err("This is live: no pause, speed or seek.".to_owned())
    }

    /// Position in ms and speed, for sources with a timeline.
    fn timeline(&self) -> Option<Timeline> {
        None
    }

    /// Asks for a fresh `scores` command. Returns whether one will come.
    fn request_scores(&mut self, now: Millis) -> bool {
        let _ = now;
        false
    }

    /// Reason for which the source cannot be shown before the operator changes something here.
    fn failure(&self) -> Option<&str> {
        None
    }

    /// Whether the source has ended and the broadcast should end too.
    fn is_finished(&self) -> bool {
        false
    }

    /// Ends the connection to the source.
    fn stop(&mut self, now: Millis) {
        let _ = now;
    }
}

/// Position of a source with a timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeline {
    /// Position in ms from the start.
    pub position_ms: u64,
    /// Speed, 1 for real time.
    pub speed: f32,
    /// Whether the time is stopped.
    pub is_paused: bool,
}
