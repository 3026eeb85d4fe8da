//! Doc tests of the book and of the crates' READMEs. The integration tests are in `scenarios`, a single test binary,
//! which is linked once.

/// Modules whose documentation is a page each, so that its code is tested.
macro_rules! pages {
    ($($module:ident: $path:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $module {}
        )*
    };
}

pages! {
    concepts_clocks: "../book/src/concepts/clocks.md",
    concepts_links: "../book/src/concepts/links.md",
    concepts_prediction: "../book/src/concepts/prediction.md",
    concepts_rewind: "../book/src/concepts/rewind.md",
    concepts_smoothing: "../book/src/concepts/smoothing.md",
    concepts_trust: "../book/src/concepts/trust.md",
    recipes_lightyear_game: "../book/src/recipes/lightyear_game.md",
    recipes_links_and_tests: "../book/src/recipes/links_and_tests.md",
    recipes_recordings: "../book/src/recipes/recordings.md",
    recipes_production: "../book/src/recipes/production.md",
    reference_controls: "../book/src/reference/controls.md",
    reference_diagnostics: "../book/src/reference/diagnostics.md",
    reference_messages: "../book/src/reference/messages.md",
    reference_prediction: "../book/src/reference/prediction.md",
    reference_testkit: "../book/src/reference/testkit.md",
    reference_recording: "../book/src/reference/recording.md",
    operations_access: "../book/src/operations/access.md",
    operations_admin: "../book/src/operations/admin.md",
    operations_deployment: "../book/src/operations/deployment.md",
    operations_link_protection: "../book/src/operations/link_protection.md",
    operations_monitoring: "../book/src/operations/monitoring.md",
    operations_server: "../book/src/operations/server.md",
    operations_sessions: "../book/src/operations/sessions.md",
    migration_lightyear: "../book/src/migration/lightyear.md",
    migration_source: "../book/src/migration/source.md",
    migration_unreal: "../book/src/migration/unreal.md",
    bevy_unlag_readme: "../crates/bevy_unlag/README.md",
    bevy_unlag_agones_readme: "../crates/bevy_unlag_agones/README.md",
    bevy_unlag_core_readme: "../crates/bevy_unlag_core/README.md",
    bevy_unlag_derive_readme: "../crates/bevy_unlag_derive/README.md",
    bevy_unlag_lightyear_readme: "../crates/bevy_unlag_lightyear/README.md",
    bevy_unlag_movement_readme: "../crates/bevy_unlag_movement/README.md",
    bevy_unlag_prediction_readme: "../crates/bevy_unlag_prediction/README.md",
    bevy_unlag_record_readme: "../crates/bevy_unlag_record/README.md",
    bevy_unlag_rewind_readme: "../crates/bevy_unlag_rewind/README.md",
    bevy_unlag_server_readme: "../crates/bevy_unlag_server/README.md",
    bevy_unlag_smoothing_readme: "../crates/bevy_unlag_smoothing/README.md",
    bevy_unlag_testkit_readme: "../crates/bevy_unlag_testkit/README.md",
    bevy_unlag_weapons_readme: "../crates/bevy_unlag_weapons/README.md",
    checked_ron_readme: "../crates/checked_ron/README.md",
    lightyear_guard_readme: "../crates/lightyear_guard/README.md",
    link_conditioner_readme: "../crates/link_conditioner/README.md",
}
