//! Rate limits of datagrams and connections: keys of addresses, leaky buckets, budgets of unproven senders.
//!
//! | type | limits |
//! |---|---|
//! | [`AddressKey`] | hosts, sites and networks, never full addresses |
//! | [`Bucket`], [`AddressLimiter`] | requests of one sender |
//! | [`HostLimiter`] | requests of one host, with a share for ports that ask again |
//! | [`SharedBudget`], [`SharedRequests`] | requests and bytes of all unproven senders, with a share for returning ones |
//! | [`QueryLimiter`] | queries of server browsers |
//! | [`RequestLimits`] | all connectionless requests of a server: queries, challenges, rejections, accepted connects |
//! | [`PasswordGuard`] | guesses of a password, with lockouts |
//! | [`SeenRequests`] | copies of signed requests |
//! | [`Reach`] | nothing: tells this machine and local networks from the Internet, and clients of a proxy from both |
//! | [`crowded`] | places: the holder that gives way to a new one |
//!
//! Invariants: tables have a fixed size, with lookup and eviction in constant time, and hash with a secret key; time is an
//! argument. Forged sources cost no more than honest ones. Engine names: `leakyBucket_t`, `SVC_RateLimitAddress`.

mod address_limiter;
mod bucket;
mod hosts;
mod keys;
mod passwords;
mod places;
mod queries;
mod reach;
mod request_limits;
mod returning;
mod seen_requests;
mod shared_budget;

pub use address_limiter::AddressLimiter;
pub use bucket::{Bucket, BucketLimit};
pub use hosts::HostLimiter;
pub use keys::{AddressKey, same_host, same_network};
pub use passwords::{PasswordGuard, PasswordLimits, PasswordVerdict};
pub use places::crowded;
pub use queries::{QueryLimiter, QueryLimits, QueryShare};
pub use reach::{Reach, SESSION_NETWORK, is_session_address, is_this_machine};
pub use request_limits::RequestLimits;
pub use returning::{RETURN_TIME, ReturningSenders};
pub use seen_requests::SeenRequests;
pub use shared_budget::{BudgetLimit, Half, SharedBudget, SharedDecision, SharedRequests};
