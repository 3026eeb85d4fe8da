//! lightyear transport for the `bevy_unlag` suite.
//!
//! ```text
//!               PreUpdate                                                PostUpdate
//!  lightyear ─► lightyear_guard ─► mailboxes ─►  fixed schedules  ─► mailboxes ─► budget ─► lightyear
//!               drops what no      IncomingMoves,                    OutgoingMoves,
//!               honest peer sends  SnapshotInbox,                    updates of pawns,
//!                                  Received<M>                       Outbox<M>
//! ```
//!
//! * [`UnlagClientNetPlugin`] and [`UnlagServerNetPlugin`] fill the suite's mailboxes in
//!   [`PreUpdate`](bevy::app::PreUpdate) and drain them in [`PostUpdate`](bevy::app::PostUpdate).
//! * [`UnlagProtocolPlugin`] registers channels, messages and replicated components.
//! * Ownership is lightyear's `ControlledBy`: a client moves the pawns that it owns and no others.
//! * Snapshots of pawns are messages of their own, sent at an [`UpdateInterval`] and prioritised by distance
//!   when the [`DownlinkBudget`] is short.
//! * [`ReplicateSmoothed`] replicates a game's own components with interpolation, [`ReplicatePredicted`]
//!   those that their owner predicts. [`ArmedPawnStatesPlugin`] sends the weapon, health and score of each pawn.
//! * The `Team` of every pawn and the server's rule of friendly fire reach all clients without a registration.
//! * [`InterestPlugin`] conceals pawns from clients whose players cannot see them now or soon.
//! * Clock synchronisation: small ping and pong messages feed
//!   [`ServerClock`](bevy_unlag_smoothing::ServerClock).
//! * The schedules of movement bases that move on command reach all clients without a registration
//!   ([`BaseScheduleMailbox`](bevy_unlag_core::BaseScheduleMailbox)).
//! * [`NetSim`] simulates bad network conditions on any link, both ways, at run time, from a seed.
//! * [`GameSpeed`] replaces lightyear's clock steering. [`LightyearPings`] are for lightyear's own inputs,
//!   prediction and interpolation, which work beside the suite.
//! * [`IngressLimits`](lightyear_guard::IngressLimits) bounds what a server accepts from its links;
//!   [`Kick`](lightyear_guard::Kick) ends a connection with a reason.
//! * [`ServerAccess`](lightyear_guard::ServerAccess) and [`ServerKey`](lightyear_guard::ServerKey) control
//!   who may join; a matchmaker issues tokens with
//!   [`ConnectTokenRequest`](lightyear_guard::ConnectTokenRequest).
//! * [`SessionConfig`] is the reconnect policy; [`RestartMatch`] and [`Shutdown`] end matches and servers.
//! * [`AddGameMessage`] registers a game's own messages with enforced [`MessageRules`]; [`Outbox`] sends
//!   them, and [`Received`] delivers them.
//! * `RecordPlugin`, with the feature `record`, records matches into files.
//! * A [`Spectator`] watches without a pawn; with the feature `record` a `SpectatorServerPlugin` sends it the match, at
//!   least a delay behind, and a `SpectatorPlugin` shows it.
//! * [`Bandwidth`] counts the traffic of each class of message.
//!
//! # Example
//!
//! A message of a game, at most four a second from each player. Client and server both register it:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_core::{NetId, Wire};
//! use bevy_unlag_lightyear::{AddGameMessage, MessageRules, Outbox, Received};
//!
//! #[derive(Wire)]
//! struct OpenDoor {
//!     door: NetId,
//! }
//!
//! fn protocol(app: &mut App) {
//!     app.add_game_message::<OpenDoor>(MessageRules::to_server().per_second(4.0));
//! }
//!
//! /// On the client.
//! fn ask(mut server: Outbox<OpenDoor>) {
//!     server.send(&OpenDoor { door: NetId(900) });
//! }
//!
//! /// On the server.
//! fn open(mut asked: MessageReader<Received<OpenDoor>>) {
//!     for Received { message, .. } in asked.read() {
//!         info!("{:?} opens", message.door);
//!     }
//! }
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `prediction` | yes | Moves, acknowledgements and corrections. With `smoothing` also [`ReplicateSmoothed`] and [`ReplicatePredicted`]. |
//! | `smoothing` | yes | Snapshots of pawns, clock synchronisation, pawn states and events. |
//! | `rewind` | yes | The log of sent snapshots, by which rewind validates view times, and [`InterestPlugin`]. |
//! | `weapons` | yes | Verdicts, tracers, projectiles, held weapons. |
//! | `record` | no | `RecordPlugin`: recordings of matches on the server; spectators. |
//!
//! # In the book
//!
//! In the repository, `book/src/reference/networking.md` lists settings and registrations; `messages.md`,
//! `sessions.md`, `interest.md` and `recording.md` beside it are about parts of this crate.
//! `book/src/concepts/links.md` says what travels when, and `book/src/migration/lightyear.md` how the suite is added to
//! a lightyear game.

#[cfg(feature = "weapons")]
mod armed_pawn_states;
mod bandwidth;
mod base_schedules;
mod budget;
mod client;
mod client_spawned_pawns;
#[cfg(feature = "smoothing")]
mod clock;
mod connection_reminder;
#[cfg(feature = "smoothing")]
mod controlling_player;
mod diagnostics;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
#[doc(hidden)]
pub mod fuzzing;
mod hidden_pawns;
#[cfg(feature = "rewind")]
mod interest;
mod lightyear_rollback;
mod link;
mod message_class;
mod messages;
mod model_index;
mod models;
#[cfg(feature = "prediction")]
mod moves;
mod names_hash;
mod net_ids;
mod net_sim;
#[cfg(feature = "smoothing")]
mod out_of_sight;
mod packet_order;
mod parking;
mod pawn;
#[cfg(feature = "smoothing")]
mod pawn_event;
#[cfg(feature = "smoothing")]
mod pawn_event_types;
#[cfg(feature = "smoothing")]
mod pawn_state;
mod plugin;
mod plugin_order;
#[cfg(feature = "prediction")]
mod possession;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
mod predicted_component;
mod protocol;
#[cfg(feature = "record")]
mod record;
mod reflection;
mod replication_queue;
#[cfg(feature = "weapons")]
mod screen_rules;
mod server;
mod session;
#[cfg(feature = "weapons")]
mod shot_effects;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
mod smoothed_component;
#[cfg(feature = "smoothing")]
mod snapshots;
mod spectators;
mod system_sets;
#[cfg(feature = "prediction")]
mod uncontrolled_pawns;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
mod value_request;
mod visibility;

#[cfg(feature = "weapons")]
pub use armed_pawn_states::ArmedPawnStatesPlugin;
pub use bandwidth::{Bandwidth, ClassTraffic};
pub use budget::{DownlinkBudget, LinkBudget};
pub use client::UnlagClientNetPlugin;
#[cfg(feature = "smoothing")]
pub use controlling_player::{ControllingPlayer, ControllingPlayerPlugin};
pub use hidden_pawns::HiddenPawns;
#[cfg(feature = "rewind")]
pub use interest::{
    AlwaysInSight, InterestConfig, InterestPlugin, InterestRule, InterestStats, InterestSystems,
    SeesEverything, SightPair, SightVerdict,
};
pub use link::{GameSpeed, LightyearPings};
pub use message_class::MessageClass;
pub use messages::{
    AddGameMessage, Delivery, GameMessageStats, MessageDirection, MessageLimits, MessageRules, MessageSource,
    MessageVerdict, Outbox, Received,
};
pub use models::NetModelPlugin;
#[doc(hidden)]
pub use models::has_models;
pub use net_sim::{NetSim, NetSimPlugin};
pub use parking::{ParkedPawn, PawnParking};
pub use pawn::{NetworkedPawn, ReplicatedPawn};
#[cfg(feature = "smoothing")]
pub use pawn_event::{PawnEvent, SharePawnEvents};
#[cfg(feature = "smoothing")]
pub use pawn_state::{AddPawnState, DroppedPawnChanges, InterpolatedComponent, OwnPawnState};
#[doc(hidden)]
pub use plugin_order::silence_plugin_order;
#[cfg(feature = "prediction")]
pub use possession::{Possess, Possessed};
#[cfg(all(feature = "prediction", feature = "smoothing"))]
pub use predicted_component::ReplicatePredicted;
pub use protocol::{PROTOCOL_VERSION, ProtocolVersion, UnlagProtocolPlugin};
#[cfg(feature = "record")]
pub use record::{
    ExplainedShot, ExplanationScene, MatchRecording, RecordMark, RecordPlugin, RecordScreenPlugin,
    ScreenRecording, ShotExplainer, TargetsScreen, current_record_setup, shot_detail,
};
pub use server::UnlagServerNetPlugin;
pub use session::{
    AwaitingReconnect, JoinConfig, LeaveReason, MatchRestarted, PlayerJoined, PlayerLeft, PlayerReturned,
    ProtocolMismatch, RateMismatch, RestartMatch, ServerShutdown, ServerStopped, SessionConfig,
    SessionExpired, SessionOf, SetupMismatch, SetupRule, Shutdown, player_pawn,
};
#[cfg(feature = "prediction")]
pub use session::{FastClock, FastClockRecord, FastClockRule, FastClockStats};
#[cfg(all(feature = "prediction", feature = "smoothing"))]
pub use smoothed_component::ReplicateSmoothed;
#[cfg(feature = "smoothing")]
pub use snapshots::{DroppedSnapshots, SnapshotWeight, UpdateInterval};
pub use spectators::Spectator;
#[cfg(feature = "record")]
pub use spectators::{
    SpectatorConfig, SpectatorPlugin, SpectatorServerPlugin, SpectatorStats, SpectatorStream,
};
pub use system_sets::NetSystems;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
pub use value_request::ValueRequest;
pub use visibility::ComponentFilters;
