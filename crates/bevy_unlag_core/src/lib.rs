//! The words that every crate of the `bevy_unlag` suite shares.
//!
//! * [`NetRole`] says who decides about a pawn, [`NetId`] names it on the wire.
//! * [`Tick`] and [`ViewTime`] are time: whole simulation ticks, and ticks with a fixed-point
//!   fraction. No float travels as time.
//! * [`MoveModel`] is one pure step of something that is predicted: the capsule character, a kart,
//!   your own. [`MoveExtension`] puts more predicted state beside a model's own.
//! * [`Snapshot`] is what everyone but the owner learns of a pawn; [`ProxyTrack`] says which of them to send
//!   so that the curve through them is the pawn's path, as a [`ProxyUpdate`]; [`SnapshotHistory`] keeps some,
//!   and [`Sampler`] turns them into the pose that is *drawn* on a client and *judged* on the
//!   server: the same code, the same bits.
//! * [`ProxySmoothing`] says how one pawn is drawn, [`Interpolate`] what lies between two updates of anything,
//!   [`BasePoses`] where lifts are for their passengers.
//! * [`ViewStamp`] says how a pose came about, so that the server can repeat it.
//! * [`Findings`] are mistakes in how an app is put together.
//! * [`Wire`], [`BitWriter`] and [`BitReader`] turn values into bits and back; reading is total.

mod angle;
mod base;
mod cubic;
mod extension;
mod findings;
mod heard;
mod history;
mod interpolate;
mod mode;
mod model;
mod proxy_track;
mod proxy_update;
mod rig;
mod role;
mod round_trip;
mod sampler;
mod snapshot;
mod tick;
mod up;
mod view;
mod visual;
mod wire;

pub use angle::{angle_to_units, look_direction, sin_cos_of_units, units_to_angle};
pub use base::{BasePoses, BaseView};
pub use extension::{BodyStep, Extended, ExtendedEvent, ExtendedInput, ExtendedState, MoveExtension};
pub use findings::{Fault, Finding, Findings, LeftAt};
pub use heard::{Heard, HeardPacket, HeardTick};
pub use history::SnapshotHistory;
pub use interpolate::{Interpolate, Interpolation, Moving, Span, Turning};
pub use mode::ProxySmoothing;
pub use model::{MoveInput, MoveModel, MoveSystems, Shown, StepContext, StepEvent};
pub use proxy_track::{KnotConfig, ProxyTrack};
pub use proxy_update::{MAX_KNOTS, ProxyUpdate};
pub use rig::{LimbPoses, LimbRig, MAX_LIMBS};
pub use role::{LocalControl, NetId, NetRole};
pub use round_trip::RoundTrip;
pub use sampler::{PoseSample, Sampler};
pub use snapshot::{
    ACCELERATION_UNITS_PER_METRE, Arrival, POSITION_UNITS_PER_METRE, SPIN_UNITS_PER_TURN, Snapshot,
    VELOCITY_UNITS_PER_METRE,
};
pub use tick::{CurrentTick, SUB_TICKS, Stall, Tick, TickPlugin, TickSystems, ViewTime, sub_ticks};
pub use up::{Up, upright_rotation};
pub use view::{DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime, UsualInterval, ViewStamp};
pub use visual::{Easing, VisualOf, VisualOffset, VisualPlugin, VisualSystems, Visuals};
pub use wire::{BitReader, BitWriter, Wire, WireError};
