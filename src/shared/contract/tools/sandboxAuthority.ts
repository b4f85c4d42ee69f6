import type { Tool } from './tool.ts'

/** Tools that work on the sandbox they name and hand out no credential of it. */
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
 * Whether a call that comes out of a sandbox stays within the authority of that place: its own sandbox, and what anybody
 * may read. All processes of a sandbox are equal, so none of them has the authority of whoever started one of them:
 * everything else is for the user to decide.
 */
export function isWithinSandbox(
  { name, effect, routes }: Pick<Tool, 'name' | 'effect' | 'routes'>,
  args: Readonly<Record<string, unknown>>,
  sandboxId: string,
): boolean {
  if (ownTools.has(name)) return args.sandbox_id === sandboxId
  return effect === 'read' && routes.length > 0 && routes.every(({ auth }) => auth === 'none')
}
