//! Services beside the list: message of the day, updates, CD-key authorization.

use std::net::{IpAddr, Ipv4Addr};

use crate::{
    discovery::{
        InfoText, quake4,
        services::{
            GetIpAuthorize, GetKeyAuthorize, GetUpdateInfo, IpAuthorize, Motd, ServicePacket,
            UpdateResponse, Verdict,
        },
    },
    model::Millis,
    node::Route,
    wire::{info::InfoString, text::WireText},
};

use super::{authorization::Answer, counters::MasterCounter, node::Master};

impl Master {
    /// Handles `getmotd`: answered if a rule has a text for the version.
    pub(super) fn motd(&mut self, now: Millis, route: Route, len: usize, info: InfoText<'_>) {
        let text = |key| info.get_ignore_case(key).unwrap_or_default();
        let version = text("version");
        let rule =
            self.options.motd.iter().find(|rule| version.strip_prefix(&rule.version).is_some());
        let Some(rule) = rule else { return self.counters.bump(MasterCounter::Unexpected) };
        let mut answer = InfoString::normal();
        // Both fit: the text is limited by the config, the challenge is a number.
        let _ = answer.set_cleaned("challenge", &text("challenge").truncated(16).to_string());
        let _ = answer.set_cleaned("motd", &rule.text);
        let info = InfoText::new(WireText::new(answer.as_str().as_bytes()));
        let answer = ServicePacket::Motd(Motd { info });
        self.serve(now, route, len, &answer);
    }

    /// Handles `getUpdateInfo`.
    pub(super) fn update(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        request: GetUpdateInfo<'_>,
    ) {
        let (version, platform) = match request {
            GetUpdateInfo::Words { version, platform } => (version, platform),
            GetUpdateInfo::Info(info) => (
                info.get_ignore_case("version").unwrap_or_default(),
                info.get_ignore_case("platform").unwrap_or_default(),
            ),
        };
        if self.options.updates.is_empty() {
            return self.counters.bump(MasterCounter::Unexpected);
        }
        let rule = self
            .options
            .updates
            .iter()
            .find(|rule| {
                version.strip_prefix(&rule.version).is_some()
                    && platform.strip_prefix(&rule.platform).is_some()
            })
            .cloned();
        let answer = match &rule {
            None => UpdateResponse::default(),
            Some(rule) if rule.message.is_empty() => {
                UpdateResponse { available: true, file: rule.file.as_str().into(), files: None }
            }
            Some(rule) => UpdateResponse {
                available: true,
                file: rule.message.as_str().into(),
                files: Some(rule.file.as_str().into()),
            },
        };
        self.serve(now, route, len, &ServicePacket::UpdateResponse(answer));
    }

    /// Handles `getKeyAuthorize`. The games expect no answer.
    pub(super) fn announce_key(&mut self, now: Millis, route: Route, request: GetKeyAuthorize<'_>) {
        match &mut self.authorization {
            None => self.counters.bump(MasterCounter::Unexpected),
            Some(service) => service.announce(now, route.remote.ip(), request.key.bytes()),
        }
    }

    /// Handles `getIpAuthorize`.
    pub(super) fn authorize(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        request: GetIpAuthorize<'_>,
    ) {
        let client = request.address.to_string().parse::<Ipv4Addr>();
        let (Some(service), Ok(client)) = (&self.authorization, client) else {
            return self.counters.bump(MasterCounter::Unexpected);
        };
        let (answer, reason) = service.verdict(now, client, request.game.raw());
        let reason = reason.to_owned();
        let verdict = match answer {
            Answer::Accept => Verdict::Accept,
            Answer::Demo => Verdict::Demo,
            Answer::Unknown => Verdict::Unknown,
            Answer::Deny => Verdict::Deny("deny".into()),
        };
        let response =
            IpAuthorize { challenge: request.challenge, verdict, reason: reason.as_str().into() };
        self.serve(now, route, len, &ServicePacket::IpAuthorize(response));
    }

    /// Handles `gameAuth` of Quake 4: accepted keys get a name for servers, others a text.
    pub(super) fn game_auth(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        request: quake4::GameAuth<'_>,
    ) {
        let (Some(service), IpAddr::V4(client)) = (&mut self.authorization, route.remote.ip())
        else {
            return self.counters.bump(MasterCounter::Unexpected);
        };
        if let Some(key) = request.key {
            service.announce(now, route.remote.ip(), key.bytes());
        }
        let (answer, reason) = service.verdict(now, client, b"q4base");
        let reason = reason.to_owned();
        let id = format!("{:016x}", self.key.hash(route.remote.ip()));
        let verdict = match answer {
            Answer::Accept | Answer::Demo => quake4::AuthKey::Accepted(id.as_str().into()),
            Answer::Deny | Answer::Unknown => quake4::AuthKey::Refused(reason.as_str().into()),
        };
        let packet = quake4::Packet::AuthKey(verdict);
        if self.reply(now, route, len, |out| packet.write(out)) {
            self.counters.bump(MasterCounter::Services);
        }
    }

    fn serve(&mut self, now: Millis, route: Route, len: usize, packet: &ServicePacket<'_>) {
        if self.reply(now, route, len, |out| packet.write(out)) {
            self.counters.bump(MasterCounter::Services);
        }
    }
}
