import type { Tool } from './tool.ts'

/** Tools that only affect the sandbox in their arguments, and return no credential for it. */
const ownTools: ReadonlySet<string> = new Set([
  'sandbox_get',
  'sandbox_exec',
  'sandbox_read_file',
  'sandbox_write_file',
  'sandbox_expose_port',
  'sandbox_remove_port',
  'sandbox_list_ports',
  'sandbox_get_url',
  'sandbox_list_domains',
  'sandbox_metrics',
  'sandbox_activity',
  'sandbox_commands',
  'sandbox_delete',
  'sandbox_pty_create',
  'sandbox_pty_write',
  'sandbox_pty_read',
  'sandbox_pty_resize',
  'sandbox_pty_list',
  'sandbox_pty_close',
])

/**
 * Whether a call from a sandbox is limited to that sandbox and public reads. Any process in a sandbox can make the
 * call, so it never has the authority of the caller that started the program. All other calls require approval by the
 * user.
 */
export function isWithinSandbox(
  { name, effect, routes }: Pick<Tool, 'name' | 'effect' | 'routes'>,
  args: Readonly<Record<string, unknown>>,
  sandboxId: string,
): boolean {
  if (ownTools.has(name)) return args.sandbox_id === sandboxId
  return effect === 'read' && routes.length > 0 && routes.every(({ auth }) => auth === 'none')
}
