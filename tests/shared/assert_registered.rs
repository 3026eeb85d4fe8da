//! Assertion about the type registry, for the test binaries of several crates.

/// Asserts that each type is registered and has the type data.
macro_rules! assert_registered {
    ($app:expr, $data:ty: $($kind:ty),* $(,)?) => {
        let registry = $app.world().resource::<AppTypeRegistry>().read();
        $(assert!(
            registry.get_type_data::<$data>(core::any::TypeId::of::<$kind>()).is_some(),
            concat!(stringify!($kind), " is not registered, or without ", stringify!($data)),
        );)*
    };
}
