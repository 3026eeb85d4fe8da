//! Sessions of native clients: tasks of a runtime that all clients of the process share.

use core::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::{
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bevy::prelude::*;
use lightyear::{
    connection::ConnectionSystems,
    link::{Link, LinkStart, LinkSystems, Linked, Linking, Unlink, UnlinkReason, Unlinked},
    prelude::PeerAddr,
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::Notify,
};

#[cfg(feature = "websocket")]
use super::WebSocketClient;
#[cfg(feature = "webtransport")]
use super::WebTransportClient;
use crate::{
    ingress::IngressLimits,
    sessions::pipe::{AppEnd, PipeBound, TaskEnd, pipe},
};

/// Attempts to open a session. netcode repeats its requests over UDP in the same way.
const ATTEMPTS: u32 = 5;
/// Time for one attempt.
const ATTEMPT_TIME: Duration = Duration::from_secs(3);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Session of a client's link.
#[derive(Component)]
struct ClientSession {
    pipe: AppEnd,
    progress: Arc<Progress>,
    /// Whether it had ended a frame ago: netcode reads its last packets before the link ends.
    had_ended: bool,
}

/// State of a session that its task writes.
#[derive(Default)]
struct Progress {
    is_open: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        if !self.is_open() {
            // It may still wait for the server.
            self.pipe.cut();
        }
    }
}

impl ClientSession {
    fn is_open(&self) -> bool {
        self.progress.is_open.load(Ordering::Acquire)
    }

    fn failure(&self) -> Option<String> {
        self.progress.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

pub(super) fn plugin(app: &mut App) {
    #[cfg(feature = "webtransport")]
    app.add_observer(start_web_transport);
    #[cfg(feature = "websocket")]
    app.add_observer(start_web_socket);
    app.add_observer(end)
        .add_systems(PreUpdate, receive.in_set(LinkSystems::Receive))
        .add_systems(PostUpdate, send.in_set(LinkSystems::Send).after(ConnectionSystems::Send));
}

type Unstarted = (Without<Linking>, Without<Linked>);

#[cfg(feature = "webtransport")]
fn start_web_transport(
    start: On<LinkStart>,
    clients: Query<(&WebTransportClient, Option<&PeerAddr>, &Link), Unstarted>,
    limits: Res<IngressLimits>,
    mut commands: Commands,
) {
    use crate::sessions::{
        WEB_TRANSPORT_MTU,
        web_transport::{carry, connect},
    };

    let Ok((WebTransportClient { url, digest }, address, link)) = clients.get(start.entity) else { return };
    if link.min_mtu() != WEB_TRANSPORT_MTU {
        let problem =
            "its link has another packet size: spawn WebTransportClient before TokenClient and Client";
        return fail(start.entity, problem.to_owned(), &mut commands);
    }
    let Some(url) = url_or_fail(start.entity, (url.as_ref(), "https", address), &mut commands) else {
        return;
    };
    let digest = *digest;
    spawn(start.entity, &limits, &mut commands, move |task, progress| async move {
        if let Some(connection) = open(|| connect(&url, digest), &task, &progress).await {
            carry(connection, task).await;
        }
    });
}

#[cfg(feature = "websocket")]
fn start_web_socket(
    start: On<LinkStart>,
    clients: Query<(&WebSocketClient, Option<&PeerAddr>), Unstarted>,
    limits: Res<IngressLimits>,
    mut commands: Commands,
) {
    use crate::sessions::web_socket::{carry, connect};

    let Ok((WebSocketClient { url, digest }, address)) = clients.get(start.entity) else { return };
    let Some(url) = url_or_fail(start.entity, (url.as_ref(), "wss", address), &mut commands) else { return };
    let digest = *digest;
    spawn(start.entity, &limits, &mut commands, move |task, progress| async move {
        if let Some(socket) = open(|| connect(&url, digest), &task, &progress).await {
            carry(socket, task).await;
        }
    });
}

/// Returns the URL of a client, or that of its server's address. Without both, the client fails.
fn url_or_fail(
    entity: Entity,
    (url, scheme, address): (Option<&String>, &str, Option<&PeerAddr>),
    commands: &mut Commands,
) -> Option<String> {
    let url = url.cloned().or_else(|| address.map(|address| format!("{scheme}://{}", address.0)));
    if url.is_none() {
        let problem = "it has neither a url nor a PeerAddr; spawn it with a TokenClient";
        fail(entity, problem.to_owned(), commands);
    }
    url
}

fn fail(entity: Entity, problem: String, commands: &mut Commands) {
    warn!("no session with the server: {problem}");
    commands.entity(entity).try_insert(Unlinked { reason: UnlinkReason::TransportError(problem) });
}

/// Starts the task of a session.
fn spawn<F: Future<Output = ()> + Send + 'static>(
    entity: Entity,
    limits: &IngressLimits,
    commands: &mut Commands,
    session: impl FnOnce(TaskEnd, Arc<Progress>) -> F,
) {
    match runtime() {
        Ok(runtime) => {
            let (app, task) = pipe(PipeBound::from(limits), Arc::new(Notify::new()));
            let progress = Arc::new(Progress::default());
            runtime.spawn(session(task, progress.clone()));
            let session = ClientSession { pipe: app, progress, had_ended: false };
            commands.entity(entity).try_insert((Linking, session));
        }
        Err(problem) => fail(entity, problem.clone(), commands),
    }
}

/// Returns the runtime of all client sessions of this process, which starts with the first one.
fn runtime() -> Result<&'static Runtime, &'static String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let start = || {
        let started: io::Result<_> =
            Builder::new_multi_thread().worker_threads(1).thread_name("client sessions").enable_all().build();
        started.map_err(|error| format!("this system starts no thread ({error})"))
    };
    RUNTIME.get_or_init(start).as_ref()
}

/// Opens a session, in several attempts. Returns `None` if it cannot be opened or is no longer wanted.
async fn open<S, F: Future<Output = Result<S, String>>>(
    connect: impl Fn() -> F,
    task: &TaskEnd,
    progress: &Progress,
) -> Option<S> {
    let cut = task.cut();
    let attempts = async {
        let mut problem = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            match tokio::time::timeout(ATTEMPT_TIME, connect()).await {
                Ok(Ok(session)) => return Ok(session),
                Ok(Err(error)) => problem = error,
                Err(_) => "the server does not answer".clone_into(&mut problem),
            }
        }
        Err(problem)
    };
    let opened = tokio::select! {
        opened = attempts => opened,
        () = cut.notified() => return None,
    };
    match opened {
        Ok(session) => {
            progress.is_open.store(true, Ordering::Release);
            Some(session)
        }
        Err(problem) => {
            *progress.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            None
        }
    }
}

fn end(unlink: On<Unlink>, mut commands: Commands) {
    commands.entity(unlink.entity).try_remove::<ClientSession>();
}

fn receive(
    mut links: Query<(Entity, &mut Link, &mut ClientSession, Has<Linked>)>,
    limits: Res<IngressLimits>,
    mut commands: Commands,
) {
    for (entity, mut link, mut session, is_linked) in &mut links {
        let (had_ended, has_ended) = (session.had_ended, session.pipe.has_ended());
        session.had_ended = has_ended;
        let _lost = session.pipe.take(limits.as_ref().into(), |packet| link.recv.push_raw(packet));
        if session.is_open() && !is_linked {
            commands.entity(entity).try_insert(Linked);
        }
        if had_ended {
            let problem = session.failure().unwrap_or_else(|| "the session has ended".to_owned());
            commands.entity(entity).try_remove::<ClientSession>();
            fail(entity, problem, &mut commands);
        }
    }
}

fn send(mut links: Query<(&mut Link, &ClientSession)>) {
    links.iter_mut().for_each(|(mut link, session)| session.pipe.send_from(&mut link));
}
