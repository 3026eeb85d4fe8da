//! Frame cost of drawing 64 proxies.

use super::{
    Plan,
    ideal_link::{SendInterval, sent_at, updates},
    truth::Path,
};
use crate::prelude::*;

const PROXIES: usize = 64;
/// Warm-up frames, in which buffers grow to their final size.
const WARM: usize = 900;

/// Client with a number of proxies.
struct Client {
    app: App,
    proxies: Vec<Entity>,
    next: usize,
    frames: Vec<f64>,
    allocations: u64,
}

impl Client {
    fn new(proxies: usize, mode: ProxySmoothing) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, SmoothingPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
        finish(&mut app);
        let spawn = |_| app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy, mode)).id();
        let proxies = (0..proxies).map(spawn).collect();
        Self { app, proxies, next: 0, frames: Vec::new(), allocations: 0 }
    }

    /// Runs one frame; updates are delivered to the inboxes before the timer starts.
    fn frame(&mut self, sent: &[ProxyUpdate], counts: bool, warm: bool) {
        let now = self.app.world().resource::<Time<Real>>().elapsed_secs_f64();
        while let Some(update) = sent.get(self.next).filter(|update| sent_at(update) + 0.05 <= now) {
            for proxy in &self.proxies {
                if let Some(mut inbox) = self.app.world_mut().get_mut::<SnapshotInbox>(*proxy) {
                    inbox.0.push(*update);
                }
            }
            self.next += 1;
        }
        if counts && warm {
            self.allocations += allocation_counter::measure(|| self.app.update()).count_total;
            return;
        }
        let start = Instant::now();
        self.app.update();
        if warm {
            self.frames.push(micros(start));
        }
    }
}

/// Adds the cost of 64 proxies.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let truth = Path::Adad.truth(plan.seconds.max(45.0), plan.seeds[0])?;
    let sent = updates(&truth, SendInterval::Ticks(3), false);
    let frames = (sent.last().map_or(0.0, sent_at) * 60.0) as usize;
    let run = |counts: bool| {
        let mut clients = [0, PROXIES].map(|proxies| Client::new(proxies, ProxySmoothing::Hermite));
        for frame in 0..frames {
            clients.iter_mut().for_each(|client| client.frame(&sent, counts, frame >= WARM));
        }
        clients
    };
    let [idle, busy] = run(false).map(|client| mean(client.frames));
    figures.add("apply_64_us", busy - idle)?;
    let [idle, busy] = run(true).map(|client| client.allocations as f64);
    figures.add("allocs_per_frame", (busy - idle) / (frames - WARM) as f64)
}
