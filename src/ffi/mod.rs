//! The faces for other languages: thin, no logic of their own. `unsafe` lives here alone.

#[cfg(feature = "cxx")]
mod bridge;
#[cfg(feature = "capi")]
pub mod c;
