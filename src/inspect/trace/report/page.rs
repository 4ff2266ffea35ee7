//! HTML page of a report: one file with inline charts, without scripts or external resources.

use std::net::SocketAddr;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Report, client::ClientReport, costs::Cost, timeline::LAYER_NAMES};
use crate::{
    chart::{self, STYLE},
    trace::{parts::Part, record::Direction},
};

/// Fields shown in each cost table.
const MAX_FIELDS: usize = 30;
/// Directions with their titles.
const DIRECTIONS: [(Direction, &str); 2] =
    [(Direction::ToClient, "Server to clients"), (Direction::ToServer, "Clients to server")];

impl Report {
    /// Returns the report as an HTML page. `name` is that of the trace.
    #[must_use]
    pub fn to_html(&self, name: &str) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { "fragd trace: " (name) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { "Trace " (name) }
                    (self.verdict())
                    (self.tiles())
                    (self.clients_section())
                    (self.bandwidth())
                    (self.largest_messages())
                    (cost_table("Entity fields by cost", &self.fields.entities()))
                    (cost_table("Playerstate fields by cost", &self.fields.players()))
                }
            }
        };
        page.into_string()
    }

    fn verdict(&self) -> Markup {
        let undecoded: u64 = self.counts.iter().map(|counts| counts.undecoded).sum();
        html! {
            @if undecoded == 0 {
                p .verdict .good { "Every datagram is decoded." }
            } @else {
                p .verdict .bad { (undecoded) " datagrams are not decoded; fragd trace --show drops names each." }
            }
        }
    }

    fn tiles(&self) -> Markup {
        let sum = |get: fn(&super::Counts) -> u64| self.counts.iter().map(get).sum::<u64>();
        let tiles = [
            ("duration", format!("{:.1} s", self.seconds())),
            ("datagrams", sum(|counts| counts.datagrams).to_string()),
            ("bytes of payload", sum(|counts| counts.bytes).to_string()),
            ("clients", (self.clients.len() as u64 + self.other_clients).to_string()),
            ("messages lost", sum(|counts| counts.lost).to_string()),
            ("ignored by receivers", sum(|counts| counts.ignored).to_string()),
        ];
        html! {
            div .tiles { @for (name, value) in tiles { div { b { (value) } span { (name) } } } }
        }
    }

    fn clients_section(&self) -> Markup {
        let mut clients: Vec<_> = self.clients.iter().collect();
        clients.sort_by_key(|(key, _)| **key);
        html! {
            section {
                h2 { "Clients" }
                p { "Above the line: time between snapshots, yellow when far longer than the mean. Below: "
                    "round trip of the client's acknowledgements as observed, yellow for rate-delayed "
                    "snapshots, red for lost messages of the server. Clients of QuakeWorld: below the line their "
                    "latency, yellow for choked answers." }
                @for ((_, address), client) in &clients { (client_figure(*address, client)) }
                @if self.other_clients > 0 { p { "Datagrams of further clients: " (self.other_clients) } }
                (clients_table(&clients))
            }
        }
    }

    fn bandwidth(&self) -> Markup {
        html! {
            section {
                h2 { "Bandwidth by kind of data" }
                ul .legend {
                    @for (layer, name) in LAYER_NAMES.iter().enumerate() {
                        li { svg viewBox="0 0 10 10" { rect class=(format!("layer{layer}")) width="10" height="10" {} } (name) }
                    }
                }
                @for (direction, title) in DIRECTIONS {
                    @let seconds = self.seconds().ceil() as u64;
                    @let rates = self.timelines[direction as usize].rates();
                    (chart::stacked(&format!("{title}, kB/s of UDP payload"), &rates, seconds))
                }
                table .numbers {
                    tr { th { "Part" } th { "to clients, bytes" } th { "share" } th { "to server, bytes" } th { "share" } }
                    @for (name, bytes) in self.part_rows() {
                        tr {
                            th { (name) }
                            @for (side, total) in [(1, self.counts[1].bytes), (0, self.counts[0].bytes)] {
                                td { (bytes[side]) } td { (percent(bytes[side], total)) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Bytes of each part by direction.
    fn part_rows(&self) -> Vec<(&'static str, [u64; 2])> {
        let parts = Part::ALL.into_iter().map(|part| {
            let bytes = |side: usize| self.parts[side][part as usize].div_ceil(8);
            (part.name(), [bytes(0), bytes(1)])
        });
        let rest = [("netchan headers", self.framing), ("connectionless", self.connectionless)];
        let mut rows: Vec<_> = parts.chain(rest).filter(|(_, bytes)| *bytes != [0, 0]).collect();
        rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes[0] + bytes[1]));
        rows
    }

    fn largest_messages(&self) -> Markup {
        html! {
            section {
                h2 { "Largest messages" }
                table .numbers {
                    tr { th { "Time" } th { "Client" } th { "Direction" } th { "Number" } th { "Bytes" } th style="text-align: left" { "Content" } }
                    @for message in &self.largest {
                        tr {
                            th { (format!("{:.3} s", message.time_us.saturating_sub(self.start_us) as f64 / 1e6)) }
                            td { (message.client) }
                            td { (message.direction.name()) }
                            td { (message.sequence) }
                            td { (message.bytes) }
                            td .words { (message.words) }
                        }
                    }
                }
            }
        }
    }
}

fn client_figure(address: SocketAddr, client: &ClientReport) -> Markup {
    html! {
        figure .lagometer {
            figcaption {
                (client.name) " " small { (address) ", protocol " (client.protocol) ", ping "
                    (client.pings.mean()) " ms, snapshots every " (client.gaps.mean()) " ms" }
            }
            (chart::lagometer(&client.lagometer, client.gaps.mean().max(1)))
        }
    }
}

fn clients_table(clients: &[(&(SocketAddr, SocketAddr), &ClientReport)]) -> Markup {
    html! {
        table .numbers {
            tr {
                th { "Client" } th { "Snapshots" } th { "full" } th { "rate-delayed or choked" } th { "longest gap" }
                th { "ping, longest" } th { "lost to client" } th { "lost to server" } th { "undecoded" } th { "kB to client" } th { "kB to server" }
            }
            @for ((_, address), client) in clients {
                @let [up, down] = client.counts;
                tr {
                    th { (address) }
                    td { (client.snapshots) } td { (client.full) } td { (client.rate_delayed) }
                    td { (client.gaps.max_ms) " ms" } td { (client.pings.max_ms) " ms" }
                    td { (down.lost) } td { (up.lost) } td { (down.undecoded + up.undecoded) }
                    td { (down.bytes / 1000) } td { (up.bytes / 1000) }
                }
            }
        }
    }
}

fn cost_table(title: &str, costs: &[(&str, Cost)]) -> Markup {
    let total: u64 = costs.iter().map(|(_, cost)| cost.bits).sum();
    html! {
        section {
            h2 { (title) }
            table .numbers {
                tr { th { "Field" } th { "Changes" } th { "Bytes" } th { "Bits per change" } th { "Share" } }
                @for (name, cost) in costs.iter().take(MAX_FIELDS) {
                    tr {
                        th { (name) } td { (cost.changes) } td { (cost.bits.div_ceil(8)) }
                        td { (format!("{:.1}", cost.bits as f64 / cost.changes.max(1) as f64)) }
                        td { (percent(cost.bits, total)) }
                    }
                }
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", part as f64 / whole.max(1) as f64 * 100.0)
}
