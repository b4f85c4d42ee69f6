import type { Sandbox } from '#shared/contract/sandboxes.ts'

/** Returns snippets to run elsewhere. None contains an API key; they read `STEWARD_API_KEY` from the environment. */
export function copyForms({ id, terminal_url }: Pick<Sandbox, 'id' | 'terminal_url'>) {
  const { origin } = new URL(terminal_url)
  const exec = `${origin}/v1/sandboxes/${id}/exec`
  return [
    {
      label: 'Copy as curl',
      text: `curl -H "x-api-key: $STEWARD_API_KEY" -H 'content-type: application/json' -d '{"command":"uname -a"}' ${exec}`,
    },
    { label: 'Copy as environment', text: `export STEWARD_URL=${origin}\nexport STEWARD_SANDBOX=${id}\n` },
  ]
}
