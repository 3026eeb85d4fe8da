//! Client side of clock synchronisation: sends pings and evaluates pongs.

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use bevy_unlag_smoothing::{ServerClock, ServerClockConfig};
use lightyear::prelude::*;

use super::{ClockPing, ClockPong, FrameTime};
use crate::{
    bandwidth::Bandwidth,
    protocol::{PingMessage, PongMessage},
};

/// Maximum number of unanswered pings: more than three seconds of them.
const MAX_UNANSWERED: usize = 64;
/// Seconds between two pings.
const INTERVAL: f64 = 0.2;
/// Seconds between two pings initially, and the duration of that phase.
const INITIAL_INTERVAL: f64 = 0.1;
const INITIAL_SECONDS: f64 = 2.0;
/// Seconds between two pings where the exchanges scatter: only more of them find out the time.
const SCATTERED_INTERVAL: f64 = 0.05;
/// Scatter beyond which that is so, in seconds.
const SCATTERED: f64 = 2e-3;

/// Unanswered pings of a link.
#[derive(Component)]
struct UnansweredPings {
    /// Send time of each ping, in unsteered seconds of [`GameClock`](bevy_unlag_core::GameClock), indexed by the lowest
    /// bits of its id.
    sent: [Option<(u16, f64)>; MAX_UNANSWERED],
    next: u16,
    began: f64,
    due: f64,
}

impl UnansweredPings {
    fn new(now: f64) -> Self {
        Self { sent: [None; MAX_UNANSWERED], next: 0, began: now, due: now }
    }

    /// Returns the next ping if it is due. `frame` is in seconds of [`Time<Real>`], `scatter` that of the clock.
    fn next_ping(&mut self, frame: f64, now: f64, scatter: Option<f64>) -> Option<ClockPing> {
        if frame < self.due {
            return None;
        }
        let interval = match scatter {
            _ if frame - self.began < INITIAL_SECONDS => INITIAL_INTERVAL,
            Some(scatter) if scatter > SCATTERED => SCATTERED_INTERVAL,
            _ => INTERVAL,
        };
        // Frames that miss the due time do not shift the schedule, and a stall causes no burst.
        self.due = (self.due + interval).max(frame);
        let id = self.next;
        self.next = id.wrapping_add(1);
        self.sent[usize::from(id) % MAX_UNANSWERED] = Some((id, now));
        Some(ClockPing { id })
    }

    /// Returns the send time of the ping with this id. Each ping is answered once.
    fn take_answered(&mut self, id: u16) -> Option<f64> {
        let slot = &mut self.sent[usize::from(id) % MAX_UNANSWERED];
        slot.take_if(|(sent, _)| *sent == id).map(|(_, at)| at)
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<ServerClock>()
        .add_observer(begin)
        .add_systems(PreUpdate, receive_pongs.after(MessageSystems::Receive))
        .add_systems(PostUpdate, send_pings.before(MessageSystems::Send));
}

/// Resets the clock: another connection may be to another server with another time.
fn begin(
    connected: On<Add, Connected>,
    clients: Query<(), With<Client>>,
    time: Res<Time<Real>>,
    fixed: Res<Time<Fixed>>,
    mut clock: ResMut<ServerClock>,
    mut commands: Commands,
) {
    if clients.contains(connected.entity) {
        let config: ServerClockConfig = *clock.config();
        *clock = ServerClock::new(config, fixed.timestep().as_secs_f64());
        commands.entity(connected.entity).insert(UnansweredPings::new(time.elapsed_secs_f64()));
    }
}

fn send_pings(
    time: FrameTime,
    mut links: Query<
        (&mut MessageSender<PingMessage>, &mut UnansweredPings),
        (With<Client>, With<Connected>),
    >,
    clock: Res<ServerClock>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (mut link, mut questions) in &mut links {
        let frame = time.real.elapsed_secs_f64();
        let Some(ping) = questions.next_ping(frame, time.now(), clock.scatter()) else { continue };
        bandwidth.send(&mut link, ping.to_bytes());
    }
}

fn receive_pongs(
    time: FrameTime,
    fixed: Res<Time<Fixed>>,
    mut links: Query<(&mut MessageReceiver<PongMessage>, &mut UnansweredPings), With<Client>>,
    mut clock: ResMut<ServerClock>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    // A server runs a frame for each tick.
    let (tick, frame) = (fixed.timestep().as_secs_f64(), time.real.delta_secs_f64());
    for (mut link, mut questions) in &mut links {
        for message in bandwidth.receive(&mut link) {
            let Ok(pong) = ClockPong::from_bytes(&message.0) else { continue };
            let Some(sent) = questions.take_answered(pong.id) else { continue };
            let (received, answered) = pong.seconds(tick);
            clock.sample_in_frames([sent, received, answered, time.now()], tick, frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_sent_at_10_then_5_hz_or_20_hz_if_scattered_at_any_frame_rate() {
        for (scatter, most) in [(None, 50), (Some(1e-4), 50), (Some(5e-3), 200)] {
            for fps in [30.0, 64.0, 144.0] {
                let mut questions = UnansweredPings::new(5.0);
                let mut sent = (0, 0);
                for frame in 0..(12.0 * fps) as u32 {
                    let now = 5.0 + f64::from(frame) / fps;
                    if questions.next_ping(now, now, scatter).is_some() {
                        if now < 7.0 { sent.0 += 1 } else { sent.1 += 1 }
                    }
                }
                let right = (19..=21).contains(&sent.0) && (most - 2..=most + 2).contains(&sent.1);
                assert!(right, "{scatter:?}, {fps} fps: {sent:?}");
            }
        }
    }

    #[test]
    fn pong_answers_its_own_ping_only_and_only_once() {
        let mut questions = UnansweredPings::new(0.0);
        let ids: Vec<_> = (0..80)
            .filter_map(|k| questions.next_ping(f64::from(k), f64::from(k), None).map(|ping| ping.id))
            .collect();
        assert_eq!(questions.take_answered(ids[79]), Some(79.0));
        assert_eq!(questions.take_answered(ids[79]), None, "answered twice");
        assert_eq!(questions.take_answered(ids[3]), None, "its slot was reused");
        assert_eq!(questions.take_answered(12_345), None, "never sent");
    }

    #[test]
    fn stall_is_not_followed_by_a_burst_of_pings() {
        let mut questions = UnansweredPings::new(0.0);
        assert!(questions.next_ping(0.0, 0.0, None).is_some());
        let sent =
            (0..10).filter(|k| questions.next_ping(60.0 + f64::from(*k) * 0.001, 60.0, None).is_some());
        assert!(sent.count() <= 2);
    }
}
