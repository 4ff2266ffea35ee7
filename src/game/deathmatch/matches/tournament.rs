//! One against one: who plays, who waits, who won.
//!
//! Who has waited longest plays next; who loses goes to the end of the line. Source: the base game's
//! tournament rules.

use super::{Deathmatch, Ending, RESTART, warmup::Warmup};
use crate::model::ClientNum;
use crate::{
    bg::GameType,
    game::{
        Host,
        people::{Populated, Role},
    },
};

impl Deathmatch {
    /// Lets whoever has waited longest play, as long as there is room. Another warm-up comes with it.
    pub(super) fn call_next_in_line(&mut self, host: &mut dyn Host) {
        while self.playing().nth(1).is_none()
            && let Some(next) = self.people.next_in_line()
            && !self.people.is_full(next)
        {
            self.set_warmup(host, Warmup::Waiting);
            (self as &mut dyn Populated).change_role(host, next, Role::Playing(None));
        }
    }

    /// The two who played, the winner first.
    fn opponents(&self) -> Option<(ClientNum, ClientNum)> {
        let mut players = self.people.players_by_score();
        let opponents = players.next().zip(players.next());
        opponents.filter(|_| players.next().is_none())
    }

    /// The game is over: counts it for both.
    pub(super) fn settle_tournament(&mut self, host: &mut dyn Host) {
        let Some((winner, loser)) = self.opponents() else { return };
        self.people.count_win(host, winner);
        self.people.count_loss(host, loser);
    }

    /// The loser makes room for the next.
    pub(super) fn retire_loser(&mut self, host: &mut dyn Host) {
        if let Some((_, loser)) = self.opponents() {
            (self as &mut dyn Populated).change_role(host, loser, Role::Watching);
        }
    }

    /// Who leaves a game loses it. After the game there is nobody left to show the scoreboard to.
    pub(in crate::game::deathmatch) fn forfeit(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.people.game_type != GameType::Tournament || !self.people.plays(client) {
            return;
        }
        match self.course.ending {
            Ending::Intermission { .. } if self.course.leaving_at.is_none() => {
                self.lead_on(host, RESTART);
            }
            Ending::None if self.course.warmup == Warmup::None => {
                let winner =
                    self.opponents().map(|(best, other)| if best == client { other } else { best });
                if let Some(winner) = winner {
                    self.people.count_win(host, winner);
                }
            }
            Ending::None | Ending::Queued(_) | Ending::Intermission { .. } => {}
        }
    }
}
