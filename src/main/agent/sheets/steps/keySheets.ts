import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelServerId } from '#shared/contract/providers.ts'
import type { ToolServerId } from '#shared/contract/toolServers.ts'
import type { OwnModelServers } from '../../providers/modelServers.ts'
import type { ProviderKeys } from '../../providers/providerKeys.ts'
import type { ToolServers } from '../../toolServers/toolServers.ts'
import { html } from '../html.ts'
import { actions, cancelButton, secretField, warning } from '../sheetParts.ts'
import type { SheetFlow, SheetNext } from '../sheetStep.ts'

/** Dependencies of the prompts for API keys, which work while the wallet is locked. */
export type KeySheetProviders = {
  keys: Pick<ProviderKeys, 'about' | 'list' | 'set'>
  servers: Pick<OwnModelServers, 'get' | 'setKey'>
  toolServers: Pick<ToolServers, 'get' | 'setSecret'>
}

/** @throws AppError `provider-key/elsewhere` */
export async function providerKeySheet({ keys }: KeySheetProviders, family: FamilyId): Promise<SheetFlow> {
  const { name, key, base_url } = keys.about(family)
  const { detail } = (await keys.list()).storage
  return keySheet({
    title: key === null || key.place === 'config' ? `Add ${name} key` : `Replace ${name} key`,
    hint: detail,
    goesTo: base_url ?? undefined,
    save: (key) => keys.set(family, key),
  })
}

/** @throws AppError `model-server/not-found`, `provider-key/elsewhere` */
export async function serverKeySheet({ keys, servers }: KeySheetProviders, id: ModelServerId): Promise<SheetFlow> {
  const { name, base_url, key } = servers.get(id)
  const { detail } = (await keys.list()).storage
  return keySheet({
    title: `${key ? 'Replace' : 'Add'} key for ${name}`,
    hint: detail,
    goesTo: base_url,
    save: (key) => servers.setKey(id, key),
  })
}

/** @throws AppError `tool-server/not-found` */
export async function toolServerSheet(
  { keys, toolServers }: KeySheetProviders,
  id: ToolServerId,
  secret: string,
): Promise<SheetFlow> {
  const { name, place } = toolServers.get(id)
  const { detail } = (await keys.list()).storage
  const inSandbox = place.kind === 'sandbox' ? ' Programs in the sandbox can read it.' : ''
  return keySheet({
    title: `${secret} for ${name}`,
    label: secret,
    submit: 'Save',
    hint: `${detail}${inSandbox}`,
    goesTo: place.kind === 'http' ? place.url : undefined,
    save: (value) => toolServers.setSecret(id, secret, value),
  })
}

type KeySheet = {
  title: string
  label?: string
  submit?: string
  hint: string
  /** Host that receives the key, if it is not the provider's own. */
  goesTo: string | undefined
  save(value: string): Promise<void>
}

function keySheet({ title, label = 'API key', submit = 'Save key', hint, goesTo, save }: KeySheet): SheetFlow {
  return {
    first: {
      show: (context) => ({
        title,
        body: html`${goesTo !== undefined && html`<p>Steward sends it to ${goesTo}.</p>`}
${goesTo !== undefined && isOpen(goesTo) && warning(html`This address uses http: others on the network can read the key.`)}
${secretField({ name: 'api_key', label, hint }, context)}
${actions({ label: submit }, cancelButton)}`,
      }),
      async take(form): Promise<SheetNext> {
        await save(form('api_key'))
        return 'done'
      },
    },
    forget() {},
  }
}

/** Whether keys would be sent unencrypted. */
function isOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && hostname !== 'localhost' && hostname !== '[::1]' && !/^127(\.\d+){3}$/.test(hostname)
}
