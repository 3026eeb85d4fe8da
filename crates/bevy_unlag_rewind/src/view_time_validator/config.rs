//! Configuration of view time validation.

use core::time::Duration;

use bevy::prelude::*;

/// Action for a shot whose view cannot have been on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Reflect)]
pub enum ViewMismatchAction {
    /// The shot is resolved at the nearest valid moment. For a view too far back this is the oldest valid
    /// moment without the allowance for frames and ticks.
    #[default]
    Clamp,
    /// The shot is rejected.
    Refuse,
    /// The shot is resolved at the server's own estimate of the shooter's view.
    ServerEstimate,
}

/// Configuration of view time validation. The defaults accept every honest client that draws at least 4
/// frames a second and uses the playout of `bevy_unlag_smoothing` with its default settings.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ViewValidationConfig {
    /// Action for a shot whose view cannot have been on the screen. Default: [`ViewMismatchAction::Clamp`].
    pub mismatch: ViewMismatchAction,
    /// Maximum extrapolation beyond the newest snapshot. Default: 250 ms, twice the sampler's
    /// [`max_extrapolation`](bevy_unlag_core::PoseSampler::max_extrapolation). A larger value accepts views
    /// of snapshots that were not sent yet, which are not older for that.
    pub max_extrapolation: Duration,
    /// Frame length granted to every client: a shot may leave at any time within a frame and shows the
    /// frame's beginning. Default: 40 ms, which covers an uneven 30 frames a second. A larger value
    /// tolerates machines with occasional hitches, but lets a client choose among moments that far apart.
    pub frame_allowance: Duration,
    /// Maximum frame length granted to a client whose moves arrive in bursts, which proves that its
    /// frames are that long. Default: 250 ms, the longest frame that Bevy simulates at once, so a larger
    /// value has no benefit. A smaller value shifts the views of slow machines, and leaves less choice to
    /// a client that pretends to be one.
    pub max_frame_allowance: Duration,
    /// Maximum growth of the view delay per tick of the shooter, in 1/256 of a tick. Default: 32, for
    /// playout that runs at 0.922 and whose steering changes by 5 %. A larger value lets a client that rarely
    /// fires choose among more moments.
    pub max_delay_growth: u16,
    /// Tolerance by which the latency of an acknowledgement may exceed the transport's round trip, since
    /// both sides wait for a tick or a frame. Default: 32 ms, but at least a tick on either side. A larger
    /// value lets a client that delays its acknowledgements reach back further by as much.
    pub rtt_slack: Duration,
    /// Maximum playout delay that is accepted, whatever link quality a client reports. Default: 300 ms,
    /// enough for 20 % loss at 20 updates a second with jitter. A larger value serves worse links, and is
    /// the maximum by which a cheating client's view can be older than the round trip.
    pub max_playout: Duration,
    /// Playout delay that is accepted during the first five seconds of a client's pawn, while little is
    /// known of its downlink. Default: 120 ms. A smaller value shifts the first shots of honest clients
    /// on bad links.
    pub initial_playout: Duration,
    /// Maximum round trip that is accepted while the transport has not measured one. Default: 400 ms. A
    /// game whose transport measures none serves players with a round trip of up to this.
    pub assumed_rtt: Duration,
}

impl Default for ViewValidationConfig {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            mismatch: ViewMismatchAction::Clamp,
            max_extrapolation: ms(250),
            frame_allowance: ms(40),
            max_frame_allowance: ms(250),
            max_delay_growth: 32,
            rtt_slack: ms(32),
            max_playout: ms(300),
            initial_playout: ms(120),
            assumed_rtt: ms(400),
        }
    }
}

/// Reason for which a view cannot have been on the screen. If several apply, the first one is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ViewTimeError {
    /// The view lies ahead of the server's tick in which the shot arrived.
    FromTheFuture,
    /// The view lies further beyond the newest acknowledged snapshot than a screen extrapolates.
    BeyondAcknowledged,
    /// The client has never acknowledged a snapshot, but its shot claims to show them. The shot is
    /// rejected under every [`ViewMismatchAction`].
    NothingAcknowledged,
    /// The view lies before that of an earlier shot.
    SteppedBack,
    /// The view fell further behind the client's own moves since earlier shots than playout can slow
    /// down.
    FellBehind,
    /// The view lies further back than the round trip and the downlink, as seen in acknowledgements, can
    /// explain.
    TooFarBack,
}

impl ViewTimeError {
    /// All variants.
    pub const ALL: [Self; 6] = [
        Self::FromTheFuture,
        Self::BeyondAcknowledged,
        Self::NothingAcknowledged,
        Self::SteppedBack,
        Self::FellBehind,
        Self::TooFarBack,
    ];
}
