//! Game events: what happens in a match, with numbers and means. The game log is their first reader.
//!
//! Invariants: an event is emitted where it happens, once the state that it names has changed. Source: the lines of
//! the base game's log, and OpenArena's.

use crate::bg::{MeansOfDeath, Persistent, TeamColor};
use crate::model::{ClientNum, LevelTime, Vec3};

/// Event of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GameEvent<'a> {
    /// A client was admitted.
    Connect(ClientNum),
    /// A client entered the level.
    Enter(ClientNum),
    /// A client left.
    Disconnect(ClientNum),
    /// The player entry of a client was published.
    PlayerEntry {
        /// Client of the entry.
        client: ClientNum,
        /// Text of the configstring.
        entry: &'a str,
        /// Identification that the client sent.
        guid: &'a str,
    },
    /// A player appeared at a spawn point.
    Spawn {
        /// Player that appeared.
        client: ClientNum,
        /// Position of the player.
        origin: Vec3,
    },
    /// A player lost health or armor.
    Hit {
        /// Player credited with the hit; none for the world.
        attacker: Option<ClientNum>,
        /// Player that was hit.
        victim: ClientNum,
        /// Means of the damage.
        means: MeansOfDeath,
        /// Health lost.
        health: i32,
        /// Armor lost.
        armor: i32,
    },
    /// A player died.
    Kill {
        /// Player credited with the kill, the victim for a suicide; none for the world.
        killer: Option<ClientNum>,
        /// Player that died.
        victim: ClientNum,
        /// Means of death.
        means: MeansOfDeath,
    },
    /// A player picked up an item.
    Pickup {
        /// Player with the item.
        client: ClientNum,
        /// Index of the item in the game's table.
        item: i32,
        /// Class name of the item.
        class: &'static str,
    },
    /// A flag was taken, captured or returned, or its carrier was fragged.
    Flag {
        /// Player that did it; none for a flag that returned by itself.
        client: Option<ClientNum>,
        /// Team of the flag; of the carrier for a frag.
        team: TeamColor,
        /// Action with the flag.
        action: FlagAction,
    },
    /// A player got or lost points.
    Score {
        /// Player whose score changed.
        client: ClientNum,
        /// Change.
        points: i32,
        /// Score after the change.
        score: i32,
    },
    /// The action of a player has changed scores, not always its own. Follows the changes.
    ScoringAction {
        /// Player that acted.
        client: ClientNum,
    },
    /// The score of a team changed. Both are 0 when a level starts.
    TeamScore {
        /// Team.
        team: TeamColor,
        /// Score after the change.
        score: i32,
        /// Cause of the change.
        cause: TeamScoreCause,
    },
    /// A player got an award.
    Award {
        /// Player with the award.
        client: ClientNum,
        /// Counter of the award.
        award: Persistent,
    },
    /// A player fulfilled a challenge.
    Challenge {
        /// Player that fulfilled it.
        client: ClientNum,
        /// Number of the challenge.
        number: u16,
    },
    /// A client sent a chat text.
    Chat {
        /// Sender.
        client: ClientNum,
        /// Audience.
        to: Audience,
        /// Text.
        text: &'a str,
    },
    /// A client sent a voice chat.
    VoiceChat {
        /// Sender.
        client: ClientNum,
        /// Audience.
        to: Audience,
        /// Id of the voice.
        id: &'a str,
    },
    /// A client called a vote.
    VoteCall {
        /// Caller.
        client: ClientNum,
        /// Proposal.
        proposal: &'a str,
    },
    /// A vote ended.
    VoteEnd {
        /// Whether it passed.
        is_passed: bool,
        /// Votes for and against it.
        votes: [usize; 2],
        /// Proposal.
        proposal: &'a str,
    },
    /// The phase of the match changed.
    Phase(MatchPhase),
}

/// Phase of a match that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPhase {
    /// The level started.
    LevelStart,
    /// The match waits for players.
    Waiting,
    /// The match starts at this time.
    Countdown(LevelTime),
    /// The match is played.
    Play,
    /// A limit was hit, for this reason.
    Exit(&'static str),
    /// The scoreboard is shown.
    Intermission,
    /// The level ended.
    LevelEnd,
}

/// Cause of a change of a team's score. The game log has those by points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamScoreCause {
    /// Points of a player, which count for its team.
    Points,
    /// A captured flag.
    Capture,
    /// Return of the points that the death of a player cost, who leaves the team.
    Leave,
    /// End of the level.
    LevelEnd,
}

/// Action of a flag, with its number in the game log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagAction {
    /// An enemy took the flag.
    Taken = 0,
    /// An enemy brought the flag to its own.
    Captured = 1,
    /// The flag came back to its base.
    Returned = 2,
    /// An enemy fragged the carrier.
    CarrierFragged = 3,
}

/// Audience of a chat text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All clients.
    All,
    /// The sender's team; all clients outside team games.
    Team,
    /// One client.
    One(ClientNum),
}

impl FlagAction {
    /// Returns the text of an action with a team's flag. Without a player, the flag is the subject.
    pub(in crate::game) fn text(self, team: TeamColor, is_by_player: bool) -> String {
        let name = team.upper_name();
        match self {
            Self::Taken => format!("got the {name} flag!"),
            Self::Captured => format!("captured the {name} flag!"),
            Self::Returned if is_by_player => format!("returned the {name} flag!"),
            Self::Returned => format!("The {name} flag was returned!"),
            Self::CarrierFragged => format!("fragged {name}'s flag carrier!"),
        }
    }
}
