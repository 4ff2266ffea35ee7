//! Help of options that take a protocol of Quake III.

use crate::client::Protocol;

/// Returns the help of a protocol option: the names of the table, then `others`.
pub(super) fn protocol_help(others: &str) -> String {
    let mut names = String::from("Protocol: ");
    for protocol in Protocol::live() {
        names.push_str(protocol.name);
        if !protocol.name.starts_with(|first: char| first.is_ascii_digit()) {
            names.push_str(&format!(" ({})", protocol.number));
        }
        names.push_str(", ");
    }
    names + others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_the_protocols_of_connections() {
        let help = protocol_help("or auto");
        assert_eq!(
            help,
            "Protocol: 43, 45, 66, 66-clear, 67, 67-clear, 68, compat (71), native (71), or auto"
        );
    }
}
