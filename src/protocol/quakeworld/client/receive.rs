//! Messages of the server, applied to the state of a client.

use super::{
    super::{
        bytes::Text,
        channel::Received,
        entities::EntityState,
        extensions::MAGICS,
        info,
        level::{Download, NameList, ServerData},
        packet::ServerMessages,
        server_message::ServerMessage,
    },
    Client,
    download::{Transfer, TransferStep},
    event::{ClientEvent, ClientState, ContentError, DisconnectReason},
    frames::Update,
    level::LevelState,
};

/// Start of a line that asks for a string command.
const COMMAND: &[u8] = b"cmd ";

impl Client {
    /// Applies the messages of a packet that was read to its end.
    pub(super) fn apply(&mut self, received: &Received<'_>, messages: ServerMessages<'_>) {
        for message in messages {
            let Ok(message) = message else { return };
            if let Err(error) = self.apply_message(received, message) {
                return self.end(DisconnectReason::Content(error));
            }
            if self.state == ClientState::Disconnected {
                return;
            }
        }
    }

    fn apply_message(
        &mut self,
        received: &Received<'_>,
        message: ServerMessage<'_>,
    ) -> Result<(), ContentError> {
        let (sequence, asked) = (received.header.sequence, received.header.acknowledged);
        match message {
            ServerMessage::PlayerInfo(info) => self.frames.add_player(sequence, info)?,
            ServerMessage::PacketEntities(deltas) => {
                let max = self.extensions.max_packet_entities();
                let update = self.frames.update(sequence, asked, None, deltas, &self.level, max)?;
                self.count_update(update, asked, false);
            }
            ServerMessage::DeltaPacketEntities { from, deltas } => {
                let (from, max) = (Some(from), self.extensions.max_packet_entities());
                let update = self.frames.update(sequence, asked, from, deltas, &self.level, max)?;
                self.count_update(update, asked, true);
            }
            ServerMessage::ChokeCount { count } => {
                self.timing.choked(asked, count);
                self.statistics.choked += u64::from(count);
            }
            ServerMessage::Disconnect => self.end(DisconnectReason::Server),
            ServerMessage::Print { level, text } if !text.is_empty() => {
                self.push_event(ClientEvent::Print { level, text: text.bytes().to_vec() });
            }
            ServerMessage::CenterPrint { text } => {
                self.push_event(ClientEvent::CenterPrint(text.bytes().to_vec()));
            }
            ServerMessage::StuffText { text } => self.stuff(text),
            ServerMessage::Download(part) => self.receive_part(part),
            ServerMessage::ServerData(data) => self.start_level(&data),
            ServerMessage::SoundList(list) => {
                self.level.add_sounds(list)?;
                let next = (list.next, "soundlist");
                self.continue_list(next, |client| client.ask_for_list("modellist", 0));
            }
            ServerMessage::ModelList(list) => self.receive_models(list)?,
            ServerMessage::ModelListShort(list) => self.receive_models(list.0)?,
            other => return self.apply_to_level(other),
        }
        Ok(())
    }

    /// Applies messages that change nothing but the state of the level.
    fn apply_to_level(&mut self, message: ServerMessage<'_>) -> Result<(), ContentError> {
        let level = &mut self.level;
        match message {
            ServerMessage::UpdateStat { stat, value } => level.set_stat(stat, i32::from(value))?,
            ServerMessage::UpdateStatLong { stat, value } => level.set_stat(stat, value)?,
            ServerMessage::LightStyle { style, values } => level.set_light_style(style, values)?,
            ServerMessage::UpdateFrags { player, frags } => level.player_mut(player)?.frags = frags,
            ServerMessage::UpdatePing { player, ping } => level.player_mut(player)?.ping = ping,
            ServerMessage::UpdatePl { player, percent } => level.player_mut(player)?.loss = percent,
            ServerMessage::UpdateEnterTime { player, seconds } => {
                level.player_mut(player)?.seconds = seconds;
            }
            ServerMessage::UpdateUserinfo { player, user_id, info } => {
                let slot = level.player_mut(player)?;
                slot.user_id = user_id;
                slot.info = info::Info::from_received(info.bytes(), info::MAX_INFO_LEN);
            }
            ServerMessage::SetInfo { player, key, value } => {
                // Invalid settings are left out.
                let _ = level.player_mut(player)?.info.set_any(key.bytes(), value.bytes());
            }
            ServerMessage::ServerInfo { key, value } => {
                let _ = level.serverinfo.set_any(key.bytes(), value.bytes());
            }
            ServerMessage::SpawnBaseline { entity, state } => {
                level.set_baseline(i32::from(entity), EntityState::from(state))?;
            }
            ServerMessage::SpawnBaseline2(delta) => {
                level
                    .set_baseline(i32::from(delta.number), delta.apply(&EntityState::default()))?;
            }
            ServerMessage::SpawnStatic(state) => level.add_static(EntityState::from(state))?,
            ServerMessage::SpawnStatic2(delta) => {
                level.add_static(delta.apply(&EntityState::default()))?;
            }
            ServerMessage::SpawnStaticSound { .. } => level.add_static_sound()?,
            ServerMessage::SetPause { paused } => level.is_paused = paused != 0,
            ServerMessage::Intermission { .. } => level.is_intermission = true,
            ServerMessage::MaxSpeed { value } => level.move_vars.max_speed = value,
            ServerMessage::EntGravity { value } => level.move_vars.ent_gravity = value,
            // Effects without state.
            _ => {}
        }
        Ok(())
    }

    fn count_update(&mut self, update: Update, asked: u32, is_delta: bool) {
        match update {
            Update::Applied => {
                self.statistics.frames += 1;
                self.statistics.deltas += u64::from(is_delta);
                if self.state == ClientState::Entering {
                    self.state = ClientState::Active;
                    self.push_event(ClientEvent::Entered);
                }
            }
            Update::Rejected => {
                self.statistics.rejected += 1;
                self.timing.rejected(asked);
            }
        }
    }

    fn start_level(&mut self, data: &ServerData<'_>) {
        *self.level = LevelState::new(data);
        self.extensions = data.extensions;
        self.frames.forget();
        self.transfer = None;
        self.state = ClientState::Lists;
        self.push_event(ClientEvent::LevelStarted { server_count: data.server_count });
        self.ask_for_list("soundlist", 0);
    }

    fn ask_for_list(&mut self, name: &str, next: u8) {
        let count = self.level.server_count;
        self.queue_string(format!("{name} {count} {next}").as_bytes());
    }

    fn continue_list(&mut self, (next, name): (u8, &str), complete: impl FnOnce(&mut Self)) {
        if self.state != ClientState::Lists {
            return;
        }
        if next == 0 { complete(self) } else { self.ask_for_list(name, next) }
    }

    fn receive_models(&mut self, list: NameList<'_>) -> Result<(), ContentError> {
        self.level.add_models(list)?;
        self.continue_list((list.next, "modellist"), |client| {
            client.state = ClientState::Map;
            let path = String::from_utf8_lossy(client.level.map_path()).into_owned();
            client.push_event(ClientEvent::MapNeeded { path });
        });
        Ok(())
    }

    fn stuff(&mut self, text: Text<'_>) {
        let mut stuff = std::mem::take(&mut self.stuff);
        stuff.push(text.bytes(), |line| self.run(line));
        self.stuff = stuff;
    }

    /// Runs a console command of the server.
    pub(super) fn run(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"//") {
            return;
        }
        if let Some(command) = line.strip_prefix(COMMAND) {
            return self.forward(command.trim_ascii());
        }
        let mut words = Text::new(line).words();
        match words.next().unwrap_or_default().bytes() {
            b"changing" => {
                self.frames.forget();
                self.state = self.state.min(ClientState::Connected);
                self.push_event(ClientEvent::LevelEnded);
            }
            b"reconnect" => {
                self.frames.forget();
                self.state = ClientState::Connected;
                self.queue_string(b"new");
            }
            b"fullserverinfo" => {
                let info = words.next().unwrap_or_default();
                self.level.serverinfo = info::Info::from_received(info.bytes(), info::MAX_INFO_LEN);
            }
            b"skins" if self.state == ClientState::Spawning => {
                self.state = ClientState::Entering;
                let count = self.level.server_count;
                self.queue_string(format!("begin {count}").as_bytes());
            }
            _ => self.push_event(ClientEvent::Command(line.to_vec())),
        }
    }

    /// Sends a string command that the server asks for.
    fn forward(&mut self, command: &[u8]) {
        if command != b"pext" {
            return self.queue_string(command);
        }
        let ours = self.options.extensions;
        let [fte, fte2, mvd1] = [ours.fte, ours.fte2, ours.mvd1];
        let [a, b, c] = MAGICS;
        let text = format!("pext 0x{a:x} 0x{fte:x} 0x{b:x} 0x{fte2:x} 0x{c:x} 0x{mvd1:x}");
        self.queue_string(text.as_bytes());
    }

    pub(super) fn receive_part(&mut self, part: Download<'_>) {
        let Some(transfer) = &mut self.transfer else { return };
        let step = transfer.receive(part, &mut self.download_id);
        let content = match step {
            TransferStep::Wait => return,
            TransferStep::Next => return self.queue_string(b"nextdl"),
            TransferStep::Complete(content) => Some(content),
            TransferStep::Failed => None,
        };
        let Some(Transfer { name, .. }) = self.transfer.as_ref() else { return };
        let (name, id) = (name.clone(), self.transfer.as_ref().and_then(Transfer::chunked_id));
        self.transfer = None;
        if let (Some(id), Some(_)) = (id, &content) {
            self.queue_string(format!("nextdl -1 100 {id}").as_bytes());
        }
        self.push_event(ClientEvent::Downloaded { name, content });
    }
}
