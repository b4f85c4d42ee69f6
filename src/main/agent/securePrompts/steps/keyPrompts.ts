import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelServerId } from '#shared/contract/providers.ts'
import type { ToolServerId } from '#shared/contract/toolServers.ts'
import type { ModelServerStore } from '../../providers/modelServers.ts'
import type { ProviderKeys } from '../../providers/providerKeys.ts'
import type { ToolServers } from '../../toolServers/toolServers.ts'
import { cancelButton, renderActionButtons, renderSecretField, renderWarning } from '../fields.ts'
import { html } from '../html.ts'
import type { SecurePromptFlow, SecurePromptNext } from '../securePromptStep.ts'

/** Dependencies of the prompts for API keys. These prompts work while the wallet is locked. */
export type KeyPromptProviders = {
  keys: Pick<ProviderKeys, 'about' | 'list' | 'set'>
  servers: Pick<ModelServerStore, 'get' | 'setKey'>
  toolServers: Pick<ToolServers, 'get' | 'setSecret'>
}

/** @throws AppError `provider-key/remote-service` */
export async function createProviderKeyPrompt(
  { keys }: KeyPromptProviders,
  family: FamilyId,
): Promise<SecurePromptFlow> {
  const { name, key, base_url } = keys.about(family)
  const { detail } = (await keys.list()).storage
  return createKeyPrompt({
    title: key === null || key.place === 'config' ? `Add ${name} key` : `Replace ${name} key`,
    hint: detail,
    goesTo: base_url ?? undefined,
    save: (key) => keys.set(family, key),
  })
}

/** @throws AppError `model-server/not-found`, `provider-key/remote-service` */
export async function createServerKeyPrompt(
  { keys, servers }: KeyPromptProviders,
  id: ModelServerId,
): Promise<SecurePromptFlow> {
  const { name, base_url, key } = servers.get(id)
  const { detail } = (await keys.list()).storage
  return createKeyPrompt({
    title: `${key ? 'Replace' : 'Add'} key for ${name}`,
    hint: detail,
    goesTo: base_url,
    save: (key) => servers.setKey(id, key),
  })
}

/** @throws AppError `tool-server/not-found` */
export async function createToolServerPrompt(
  { keys, toolServers }: KeyPromptProviders,
  id: ToolServerId,
  secret: string,
): Promise<SecurePromptFlow> {
  const { name, place } = toolServers.get(id)
  const { detail } = (await keys.list()).storage
  const inSandbox = place.kind === 'sandbox' ? ' Programs in the sandbox can read it.' : ''
  return createKeyPrompt({
    title: `${secret} for ${name}`,
    label: secret,
    submit: 'Save',
    hint: `${detail}${inSandbox}`,
    goesTo: place.kind === 'http' ? place.url : undefined,
    save: (value) => toolServers.setSecret(id, secret, value),
  })
}

type KeyPrompt = {
  title: string
  label?: string
  submit?: string
  hint: string
  /** Host that receives the key, if it is not the provider's default. */
  goesTo: string | undefined
  save(value: string): Promise<void>
}

function createKeyPrompt({
  title,
  label = 'API key',
  submit = 'Save key',
  hint,
  goesTo,
  save,
}: KeyPrompt): SecurePromptFlow {
  return {
    first: {
      show: (context) => ({
        title,
        body: html`${goesTo !== undefined && html`<p>Steward sends it to ${goesTo}.</p>`}
${goesTo !== undefined && isUnencrypted(goesTo) && renderWarning(html`This address uses http: others on the network can read the key.`)}
${renderSecretField({ name: 'api_key', label, hint }, context)}
${renderActionButtons({ label: submit }, cancelButton)}`,
      }),
      async take(form): Promise<SecurePromptNext> {
        await save(form('api_key'))
        return 'done'
      },
    },
    forget() {},
  }
}

/** Whether keys would be sent unencrypted. */
function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && hostname !== 'localhost' && hostname !== '[::1]' && !/^127(\.\d+){3}$/.test(hostname)
}
