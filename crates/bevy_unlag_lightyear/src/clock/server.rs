//! Server side of clock synchronisation: rate-limited replies to pings.

use bevy::prelude::*;
use bevy_unlag_core::{TickPlugin, Wire};
use lightyear::prelude::{server::ClientOf, *};

use super::{ClockPing, ClockPong, TickTime};
use crate::{
    bandwidth::Bandwidth,
    protocol::{PingMessage, PongMessage},
};

/// Replies per second and client: twice as many as our clients request.
const RATE: f32 = 40.0;
/// Burst of replies after a pause.
const BURST: f32 = 8.0;

/// Admitted pings of a link, answered at the end of the frame.
#[derive(Component)]
struct PendingPings {
    waiting: [Option<(ClockPing, f64)>; BURST as usize],
    allowed: f32,
}

impl Default for PendingPings {
    fn default() -> Self {
        Self { waiting: [None; BURST as usize], allowed: BURST }
    }
}

impl PendingPings {
    /// Admits a ping if the client is within its rate. `now` is in ticks.
    fn admit(&mut self, ping: ClockPing, now: f64) {
        if self.allowed < 1.0 {
            return;
        }
        if let Some(slot) = self.waiting.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some((ping, now));
            self.allowed -= 1.0;
        }
    }

    fn pass(&mut self, seconds: f32) {
        self.allowed = (self.allowed + seconds * RATE).min(BURST);
    }
}

pub(crate) fn plugin(app: &mut App) {
    bevy_unlag_core::require_plugin(app, TickPlugin);
    app.add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
        commands.entity(added.entity).insert(PendingPings::default());
    })
    .add_systems(PreUpdate, receive_pings.after(MessageSystems::Receive))
    .add_systems(PostUpdate, send_pongs.before(MessageSystems::Send));
}

fn receive_pings(
    time: TickTime,
    mut links: Query<(&mut MessageReceiver<PingMessage>, &mut PendingPings), With<ClientOf>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let now = time.before_steps();
    let passed = time.frame.real.delta_secs();
    for (mut link, mut enquiries) in &mut links {
        enquiries.pass(passed);
        for message in bandwidth.receive(&mut link) {
            if let Ok(ping) = ClockPing::from_bytes(&message.0) {
                enquiries.admit(ping, now);
            }
        }
    }
}

fn send_pongs(
    time: TickTime,
    mut links: Query<(&mut MessageSender<PongMessage>, &mut PendingPings), (With<ClientOf>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let now = time.after_steps();
    for (mut link, mut enquiries) in &mut links {
        for (ping, received) in enquiries.waiting.iter_mut().filter_map(Option::take) {
            bandwidth.send(&mut link, ClockPong::new(ping.id, received, now).to_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ping_flood_gets_replies_at_the_limited_rate() {
        let mut enquiries = PendingPings::default();
        let mut answered = 0;
        // A thousand pings in each of 640 frames.
        for frame in 0..640u32 {
            enquiries.pass(1.0 / 64.0);
            for id in 0..1_000 {
                enquiries.admit(ClockPing { id }, f64::from(frame));
            }
            answered += enquiries.waiting.iter_mut().filter_map(Option::take).count();
        }
        assert!((400..=410).contains(&answered), "{answered} replies in ten seconds");
    }
}
