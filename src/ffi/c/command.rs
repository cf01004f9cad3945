use super::handle::{self, Handle};
use super::pointer::{Out, sgclaw_str};
use super::status::{answer, sgclaw_status};
use crate::Authorized;
use crate::time::micros;

/// A command that has passed every check: the only thing that an executor takes.
pub struct sgclaw_command(());

impl Handle for sgclaw_command {
    type Value = Authorized;
    const KIND: [u8; 8] = *b"sgc.comd";
}

/// The command's seq.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_seq(command: *const sgclaw_command, seq: *mut u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (command, seq) = unsafe { (handle::enter(command)?, Out::new(seq)?) };
        seq.set(command.seq());
        Ok(())
    })
}

/// The name of a registered, negotiated action.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_action(
    command: *const sgclaw_command,
    action: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (command, action) = unsafe { (handle::enter(command)?, Out::new(action)?) };
        action.set(command.action().as_str().into());
        Ok(())
    })
}

/// Params that satisfy the action's schema, as canonical JSON. They may hold typed text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_params(
    command: *const sgclaw_command,
    params: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (command, params) = unsafe { (handle::enter(command)?, Out::new(params)?) };
        params.set(command.params().as_str().into());
        Ok(())
    })
}

/// The domain that the document acted upon must have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_expected_domain(
    command: *const sgclaw_command,
    expected_domain: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (command, expected_domain) = unsafe { (handle::enter(command)?, Out::new(expected_domain)?) };
        expected_domain.set(command.expected_domain().as_str().into());
        Ok(())
    })
}

/// How long the executor may take, in microseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_timeout(
    command: *const sgclaw_command,
    timeout_us: *mut u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (command, timeout_us) = unsafe { (handle::enter(command)?, Out::new(timeout_us)?) };
        timeout_us.set(micros(command.timeout()));
        Ok(())
    })
}

/// Frees the command and sets the variable to NULL. The host still waits for its completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_command_free(command: *mut *mut sgclaw_command) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(command) }
}
