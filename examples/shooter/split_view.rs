//! Split view: beside the own screen, where the server has all pawns, and what another player sees. F2 toggles it.

use bevy::{
    camera::{Viewport, visibility::RenderLayers},
    light::NotShadowCaster,
    prelude::*,
    window::PrimaryWindow,
};
use bevy_unlag::{
    core::LimbPoses,
    prelude::*,
    rewind::{HUMANOID_LIMBS, humanoid_rig},
};
use unlag_examples::{
    arena::ArenaPart,
    screen::{
        LiveText, ShownIf,
        scene::camera,
        ui::{TEXT, label, placed},
    },
    screen_feed::{ScreenFeed, ScreenFrame},
    visuals::body::colour,
};

use crate::view::PlayerCamera;

/// Width and height of an inset, as shares of the window.
const SIZE: Vec2 = Vec2::new(0.24, 0.26);
/// Top of the insets, as a share of the window's height.
const TOP: f32 = 0.03;
/// Left edges of the insets, as shares of the window's width.
const LEFT: [f32; 2] = [0.255, 0.505];

/// Feeds of the insets: the server, and another player.
#[derive(Resource, Clone, Debug)]
pub struct SplitFeeds(pub [ScreenFeed; 2]);

/// Shows the insets.
pub fn plugin(app: &mut App) {
    app.init_resource::<ShowsSplit>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (toggle, light_layers, (place_insets, pose_copies).chain()));
}

/// Whether the insets are shown.
#[derive(Resource, Default)]
pub struct ShowsSplit(bool);

/// Returns whether the insets leave their place to kills and scores.
pub fn is_hidden(shows: Res<ShowsSplit>) -> bool {
    !shows.0
}

/// Camera of an inset.
#[derive(Component)]
struct Inset(usize);

/// A limb in an inset: the inset, its pawn, and its index.
#[derive(Component)]
struct LimbCopy(usize, NetId, usize);

fn layer(inset: usize) -> RenderLayers {
    RenderLayers::layer(inset + 1)
}

fn spawn(mut commands: Commands) {
    for inset in 0..2 {
        let view = camera(true, 75.0, Transform::default());
        let shown = Camera { order: 1 + inset as isize, is_active: false, ..default() };
        commands.spawn((view, shown, Inset(inset), layer(inset)));
        let caption = ["the server now, from your eye", "what another player sees"][inset];
        let visible =
            ShownIf::new(&mut commands, |shows: Res<ShowsSplit>, feeds: Option<Res<SplitFeeds>>| {
                shows.0 && feeds.is_some()
            });
        let place =
            Node { left: percent(LEFT[inset] * 100.0), top: percent((TOP + SIZE.y) * 100.0), ..placed() };
        commands.spawn((
            visible,
            place,
            Pickable::IGNORE,
            children![(label(caption, 12.0, TEXT), TextShadow::default(), Pickable::IGNORE)],
        ));
    }
    let missing = ShownIf::new(&mut commands, |shows: Res<ShowsSplit>, feeds: Option<Res<SplitFeeds>>| {
        shows.0 && feeds.is_none()
    });
    let text = LiveText::new(&mut commands, || "the split view needs the server in this process".to_owned());
    let place = Node { left: percent(30), top: percent(TOP * 100.0), ..placed() };
    commands.spawn((missing, place, Pickable::IGNORE, children![(text, label("", 14.0, TEXT))]));
}

fn toggle(
    keys: Res<ButtonInput<KeyCode>>,
    mut shows: ResMut<ShowsSplit>,
    feeds: Option<Res<SplitFeeds>>,
    mut insets: Query<&mut Camera, With<Inset>>,
) {
    if keys.just_pressed(KeyCode::F2) {
        shows.0 = !shows.0;
    }
    let is_shown = shows.0 && feeds.is_some();
    for mut inset in &mut insets {
        if inset.is_active != is_shown {
            inset.is_active = is_shown;
        }
    }
    if shows.is_changed()
        && let Some(feeds) = feeds
    {
        feeds.0.iter().for_each(|feed| feed.want(is_shown));
    }
}

/// Shows the level and the sun in the insets, too.
fn light_layers(
    parts: Query<Entity, (Or<(With<ArenaPart>, With<DirectionalLight>)>, Without<RenderLayers>)>,
    mut commands: Commands,
) {
    for part in &parts {
        commands.entity(part).insert(RenderLayers::from_layers(&[0, 1, 2]));
    }
}

fn place_insets(windows: Query<&Window, With<PrimaryWindow>>, mut insets: Query<(&Inset, &mut Camera)>) {
    let Ok(window) = windows.single() else { return };
    let size = window.physical_size().as_vec2();
    for (Inset(inset), mut camera) in &mut insets {
        let viewport = Viewport {
            physical_position: (size * Vec2::new(LEFT[*inset], TOP)).as_uvec2(),
            physical_size: (size * SIZE).as_uvec2().max(UVec2::ONE),
            ..default()
        };
        let old = camera.viewport.as_ref().map(|old| (old.physical_position, old.physical_size));
        if old != Some((viewport.physical_position, viewport.physical_size)) {
            camera.viewport = Some(viewport);
        }
    }
}

/// Poses copies of all bodies in each inset with the rig of the pawns.
fn pose_copies(
    (shows, feeds): (Res<ShowsSplit>, Option<Res<SplitFeeds>>),
    own: Query<&NetId, With<LocalControl>>,
    cameras: Query<&Transform, (With<PlayerCamera>, Without<Inset>, Without<LimbCopy>)>,
    mut insets: Query<(&Inset, &mut Transform), Without<LimbCopy>>,
    mut copies: Query<(Entity, &LimbCopy, &mut Transform)>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let Some(feeds) = feeds.filter(|_| shows.0) else { return };
    let frames = feeds.0.each_ref().map(ScreenFeed::newest);
    let own = own.single().ok().copied();
    // Whose eye each inset has, and therefore whose body it leaves out.
    let hidden = [own, frames[1].own.map(|(id, _)| id)];
    for (Inset(inset), mut place) in &mut insets {
        let eye =
            if *inset == 0 { cameras.single().ok().copied() } else { frames[1].own.map(|(_, eye)| eye) };
        if let Some(eye) = eye {
            *place = eye;
        }
    }
    let pose_in = |frame: &ScreenFrame, pawn: NetId| {
        frame.pawns.iter().find(|(id, _)| *id == pawn).map(|(_, pose)| *pose)
    };
    let rig = humanoid_rig();
    let mut posed: Vec<(usize, NetId)> = Vec::new();
    for (entity, LimbCopy(inset, pawn, limb), mut place) in &mut copies {
        let mut room = LimbPoses::default();
        let pose = pose_in(&frames[*inset], *pawn).filter(|_| hidden[*inset] != Some(*pawn));
        let limbs = pose.map(|pose| rig.in_world(&pose, &mut room));
        if let Some(limb) = limbs.and_then(|limbs| limbs.get(*limb)) {
            *place = Transform::from_isometry(*limb);
            posed.push((*inset, *pawn));
        } else {
            commands.entity(entity).despawn();
        }
    }
    for (inset, frame) in frames.iter().enumerate() {
        let missing = frame.pawns.iter().map(|(id, _)| *id);
        for pawn in missing.filter(|id| hidden[inset] != Some(*id) && !posed.contains(&(inset, *id))) {
            let material = materials.add(colour(pawn, 0.55));
            for (limb, (_, half)) in HUMANOID_LIMBS.into_iter().enumerate() {
                commands.spawn((
                    (LimbCopy(inset, pawn, limb), layer(inset), NotShadowCaster),
                    Mesh3d(meshes.add(Cuboid::from_size(half * 2.0))),
                    MeshMaterial3d(material.clone()),
                    // Far away until the next frame.
                    Transform::from_xyz(0.0, -1e3, 0.0),
                ));
            }
        }
    }
}
