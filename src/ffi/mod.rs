//! The faces for other languages: thin, no logic of their own. `unsafe` lives here alone.

#[cfg(feature = "capi")]
pub mod c;
#[cfg(feature = "cxx")]
mod bridge;
