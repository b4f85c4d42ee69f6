import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { StatusDot, type Tone } from '#renderer/ui/StatusDot.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { families } from '#shared/contract/families.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { KeyTest, Provider } from '#shared/contract/providers.ts'
import { openRecord } from '#shared/openRecord.ts'
import { ModelList } from './ModelTable.tsx'
import { useProviderActions } from './useProviders.ts'

type ProviderRowProps = { provider: Provider; models: readonly ListedModel[]; onRemove: () => void }

const tones: Record<KeyTest['outcome'], Tone> = openRecord(
  {
    accepted: 'positive',
    refused: 'negative',
    unreachable: 'caution',
    unclear: 'caution',
  },
  () => 'neutral',
)

export function ProviderRow({ provider, models, onRemove }: ProviderRowProps) {
  const { family, name, key, key_refused_at, base_url } = provider
  const openSecurePrompt = useSecurePrompt()
  const { test } = useProviderActions()
  const [result, setResult] = useState<KeyTest>()
  const [testing, setTesting] = useState(false)

  const runTest = async () => {
    setTesting(true)
    try {
      setResult(await test(family))
    } catch (error) {
      notify.failed(error)
    } finally {
      setTesting(false)
    }
  }
  const giveKey = async () => {
    setResult(undefined)
    if ((await openSecurePrompt({ purpose: 'provider_key', family })) === 'done') await runTest()
  }
  const remove = () => {
    setResult(undefined)
    onRemove()
  }

  const own = key !== null && key.place !== 'config'
  const items: MenuItem[] = [
    ...(own ? [{ label: 'Replace key…', onSelect: () => void giveKey() }] : []),
    {
      label: `Open ${name}’s key page`,
      onSelect: () => void window.open(families[family].keysUrl, '_blank', 'noopener,noreferrer'),
    },
    ...(own ? (['separator', { label: 'Remove key…', tone: 'danger', onSelect: remove }] as const) : []),
  ]
  return (
    <li aria-label={name} className="flex flex-col gap-1.5 px-3.5 py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="flex min-w-48 flex-1 items-start gap-2.5">
          <span className="mt-1.5 flex">
            <StatusDot tone={getTone(provider, result)} pulsing={testing} />
          </span>
          <div className="min-w-0">
            <p className="font-medium text-text">{name}</p>
            <p className="text-small text-muted">
              <KeyState provider={provider} />
            </p>
            {key_refused_at !== null && !result && (
              <p className="text-small text-negative">
                {name} refused this key <TimeAgo at={key_refused_at} spelled />. Replace it.
              </p>
            )}
            {result && (
              <p
                role="status"
                className={result.outcome === 'accepted' ? 'text-small text-positive' : 'text-small text-negative'}
              >
                {result.detail}
              </p>
            )}
            {base_url !== null && (
              <p className="text-small break-all text-faint">
                Requests go to <code className="font-mono">{base_url}</code> (config.json)
              </p>
            )}
          </div>
        </div>
        <div className="flex shrink-0 items-center gap-1.5">
          {key !== null && (
            <Button size="small" busy={testing} onClick={() => void runTest()} aria-label={`Test ${name} key`}>
              Test
            </Button>
          )}
          {!own && (
            <Button size="small" onClick={() => void giveKey()} aria-label={`Add key for ${name}`}>
              Add key…
            </Button>
          )}
          <Menu items={items} align="end">
            <IconButton icon={MoreHorizontal} label={`Actions for ${name}`} />
          </Menu>
        </div>
      </div>
      <div className="pl-4.5">
        <ModelList of={name} models={models} />
      </div>
    </li>
  )
}

function getTone({ key, key_refused_at: refusedAt }: Provider, result: KeyTest | undefined): Tone {
  if (key === null) return 'neutral'
  if (key.fault !== null) return 'negative'
  if (result) return tones[result.outcome]
  return refusedAt === null ? 'positive' : 'negative'
}

const places = { keychain: 'in your keychain', file: 'in an encrypted file' } as const

function KeyState({ provider: { key } }: { provider: Provider }) {
  if (key === null) return 'No key'
  if (key.fault !== null) return <span className="text-negative">{key.fault}</span>
  if (key.place === 'config') return 'Key from config.json'
  const ends = key.ends_with === null ? 'Key' : `Key ending in ${key.ends_with}`
  return (
    <>
      {ends}, {places[key.place]}
      {key.set_at !== null && (
        <>
          {' · added '}
          <TimeAgo at={key.set_at} spelled />
        </>
      )}
    </>
  )
}
