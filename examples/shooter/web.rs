//! Client in a browser. The page says in its URL what to join, and shows what becomes of it.
//!
//! | Parameter | Meaning |
//! | --- | --- |
//! | `server` | Address of a server without a key, such as `192.0.2.7:5001` |
//! | `token` | Connect token in hexadecimal, in place of `server`; after `#`, which reaches no server |
//! | `transport` | `web-transport`, the default, or `web-socket` for networks that let nothing else through |
//! | `url` | URL of the server, if its certificate is for a name: `https://play.example.com:5001`, or `wss://` |
//! | `digest` | SHA-256 digest of a certificate for WebTransport that browsers do not trust, 64 hexadecimal digits |
//! | `fallback` | URL of the server's WebSocket, which the page tries if there is no answer over WebTransport |
//! | `preset` | Simulated link, by the name of its preset |
//! | `full` | Shadows and anti-aliasing |
//! | `autoplay` | A script plays |

pub mod page;

use bevy::{
    input::InputSystems,
    prelude::*,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow},
};
use bevy_unlag::prelude::*;
use lightyear::prelude::Connected;
use unlag_examples::{
    connection,
    match_end::MatchEnd,
    match_report::{self, MatchReport, PlayerReport},
    reconnect::{self, ReconnectPolicy},
    screen::WindowArgs,
};

use crate::{client_window::client_window, play::Play};
use page::{Page, Parameters};

/// Seconds between two reports on the page.
const REPORT_INTERVAL: f32 = 1.0;
/// Frames before the client joins, at least and at most, and seconds of one that compiles no shaders.
const FIRST_FRAMES: u32 = 4;
const MOST_FRAMES: u32 = 60;
const QUICK_FRAME: f32 = 0.25;
/// Seconds of a frame that count while the browser is asked for the mouse: it answers between frames.
const LONG_FRAME: f32 = 0.1;
/// Seconds without the mouse after which the browser has refused it.
const REFUSED_AFTER: f32 = 1.0;

/// Starts the client. Errors are shown on the page.
pub fn main() {
    let Some(page) = Page::find() else { return };
    match client(&page) {
        Ok(mut app) => {
            page.show("joining", "");
            app.run();
        }
        Err(line) => page.show("failed", &line),
    }
}

/// Shows the end of the match on the page.
pub fn show_end(end: &MatchEnd) {
    if let Some(page) = Page::find() {
        page.show(end.reason.name(), &end.text);
    }
}

fn client(page: &Page) -> Result<App, String> {
    let parameters = page.take_parameters()?;
    let transport = parameters.transport()?;
    let (client, redial) = token(page, &parameters)?;
    let client = (client, redial, transport);
    let autoplay = parameters.get("autoplay").is_some();
    let full = parameters.get("full").is_some();
    let window = WindowArgs { autoplay, size: (1280, 720), plain: !full, full, screenshot: None, film: None };
    let play = Play::in_browser(parameters.get("preset"), connection::random_client_id());
    let mut app = client_window(client, None, &play, ("bevy_unlag shooter".to_owned(), &window))?;
    match_report::keep_ended_connections(&mut app);
    app.add_observer(note_connection)
        .add_systems(Update, report)
        .add_systems(PreUpdate, take_escape.after(InputSystems));
    Ok(app)
}

/// Lets the client join once its first frames, which compile shaders, are over: on a slow machine they take seconds, in
/// which the page cannot send, and a server gives up sessions without a request.
pub fn join_once_drawn(app: &mut App, join: impl FnOnce(&mut World) + Send + Sync + 'static) {
    let (mut join, mut frames) = (Some(join), 0);
    app.add_systems(Update, move |world: &mut World| {
        frames += 1;
        let is_quick = world.resource::<Time<Real>>().delta_secs() < QUICK_FRAME;
        if ((frames > FIRST_FRAMES && is_quick) || frames > MOST_FRAMES)
            && let Some(join) = join.take()
        {
            join(world);
        }
    });
}

/// Returns the client's token, and whether it may reconnect. Without a key, the tab keeps its client id, so that a
/// reload returns to the same pawn.
fn token(page: &Page, parameters: &Parameters) -> Result<(TokenClient, ReconnectPolicy), String> {
    if let Some(token) = parameters.token()? {
        let client =
            TokenClient::new(&token).map_err(|error| format!("the link's token is unusable: {error}"))?;
        return Ok((client, ReconnectPolicy::never()));
    }
    let address = parameters.get("server").ok_or(
        "the link names no server; append ?server=ADDRESS:PORT&digest=DIGEST, as the server prints them",
    )?;
    let server = address
        .parse()
        .map_err(|_| "the link's server is not an address with a port, like 192.0.2.7:5001".to_owned())?;
    let client_id = page.client_id().unwrap_or_else(|| {
        let client_id = connection::random_client_id();
        page.keep_client_id(client_id);
        client_id
    });
    reconnect::window_client_with_id(server, client_id)
}

/// Notes on the page that a server has answered.
fn note_connection(_: On<Add, Connected>) {
    if let Some(page) = Page::find() {
        page.show_connected();
    }
}

/// Presses Escape when the browser has released the mouse, because it keeps the key to itself, and when it refuses to
/// give the mouse, as it does shortly after it has released it.
fn take_escape(
    mut had_mouse: Local<bool>,
    mut missed: Local<f32>,
    time: Res<Time<Real>>,
    cursors: Query<&CursorOptions, With<PrimaryWindow>>,
    mut keys: ResMut<ButtonInput<KeyCode>>,
) {
    let has_mouse = Page::find().is_some_and(|page| page.has_mouse());
    let is_wanted = cursors.iter().any(|cursor| cursor.grab_mode != CursorGrabMode::None);
    *missed = if is_wanted && !has_mouse { *missed + time.delta_secs().min(LONG_FRAME) } else { 0.0 };
    let was_released = core::mem::replace(&mut *had_mouse, has_mouse) && !has_mouse;
    if was_released || *missed > REFUSED_AFTER {
        *missed = 0.0;
        keys.press(KeyCode::Escape);
    } else if !has_mouse && keys.pressed(KeyCode::Escape) && !keys.just_pressed(KeyCode::Escape) {
        keys.release(KeyCode::Escape);
    }
}

/// Writes the report of the match so far to the page every second, for scripts.
fn report(world: &mut World, mut waited: Local<f32>) {
    let (passed, now) = {
        let time = world.resource::<Time<Real>>();
        (time.delta_secs(), time.elapsed_secs_f64())
    };
    *waited += passed;
    if *waited < REPORT_INTERVAL {
        return;
    }
    *waited = 0.0;
    let report = PlayerReport::read(world, now.max(1.0));
    if let Some(page) = Page::find() {
        if report.player != 0 {
            page.show_joined(report.player);
        }
        page.report(&MatchReport { players: vec![report] }.json());
    }
}
