//! Userinfo of a bot.

use crate::{
    bots::options::BotsOptions,
    wire::info::{InfoError, InfoString},
};

/// Returns the userinfo of a bot. The two numbers form `cl_guid`, which some games require.
pub(super) fn userinfo(
    name: &str,
    options: &BotsOptions,
    guid_high: u64,
    guid_low: u64,
) -> Result<InfoString, InfoError> {
    let mut info = InfoString::normal();
    for (key, value) in [
        ("name", name),
        ("rate", &options.rate_bytes_per_sec.to_string()),
        ("snaps", &options.snaps.to_string()),
        ("model", "sarge"),
        ("headmodel", "sarge"),
        ("team_model", "sarge"),
        ("team_headmodel", "sarge"),
        ("color1", "4"),
        ("color2", "5"),
        ("handicap", "100"),
        ("sex", "male"),
        ("cl_anonymous", "0"),
        ("cg_predictItems", "1"),
        ("teamtask", "0"),
        ("cl_guid", &format!("{guid_high:016X}{guid_low:016X}")),
        ("password", &options.password),
    ] {
        info.set(key, value)?;
    }
    Ok(info)
}
