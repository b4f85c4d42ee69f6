import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { AppError, type ErrorCode } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { SandboxId } from '#shared/ids.ts'

/** Signal that never aborts. */
export const never = new AbortController().signal

export function createSandboxSpec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
  const id = SandboxId.parse(randomBytes(16).toString('hex'))
  return {
    id,
    hostname: 'box',
    runtime: 'bubblewrap',
    vcpu: 1,
    memoryMb: 512,
    diskGb: 1,
    image: null,
    network: 'none',
    ...changes,
  }
}

/** Runs a command and returns its output. @throws on a nonzero exit code */
export async function run(sandbox: SandboxInstance, command: string): Promise<string> {
  const outcome = await sandbox.exec({ command, timeoutMs: 120_000, signal: never })
  expect(outcome.exitCode, `${command}: ${outcome.stderr.toString()}`).toBe(0)
  return outcome.stdout.toString()
}

export async function expectAppError(code: ErrorCode, promise: Promise<unknown>): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error, `expected ${code}`).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code })
}
