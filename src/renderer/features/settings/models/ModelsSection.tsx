import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { families, getProviderTitle } from '#shared/contract/families.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { Provider, Providers } from '#shared/contract/providers.ts'
import { SettingsGroup, SettingsPage } from '../SettingsPage.tsx'
import { ModelTable } from './ModelTable.tsx'
import { OwnServers } from './OwnServers.tsx'
import { ProviderRow } from './ProviderRow.tsx'
import { useModels } from './useModels.ts'
import { useProviderActions, useProviders } from './useProviders.ts'

const intros = {
  you: 'Keys for model providers, and your own model servers. Programs use these models with a Steward API key and never see the provider’s key.',
  operator: 'Models of the service you are signed in to. Programs use them with a Steward API key.',
} as const

export function ModelsSection() {
  const { data, error, isPending, refetch } = useProviders()
  const models = useModels()
  return (
    <SettingsPage
      title="Models"
      description={
        <p>
          {intros[data?.managed_by ?? 'you']}{' '}
          <a href={buildAddress('settings', 'coding-agents')} className="font-medium text-accent hover:underline">
            Connect a coding agent
          </a>
        </p>
      }
    >
      {isPending ? (
        <SkeletonRows label="Loading providers…" count={5} rowClassName="h-14" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          {models.error && <ErrorNotice error={models.error} onRetry={() => void models.refetch()} />}
          {data.managed_by === 'you' ? (
            <>
              <ProviderGroup {...data} models={models.data ?? []} />
              <OwnServers models={models.data ?? []} />
            </>
          ) : (
            <OperatorModels models={models.data} isPending={models.isPending} />
          )}
        </>
      )}
    </SettingsPage>
  )
}

type ProviderGroupProps = Providers & { models: readonly ListedModel[] }

function ProviderGroup({ providers, storage, models }: ProviderGroupProps) {
  const { remove } = useProviderActions()
  const [removed, setRemoved] = useState<Provider>()
  const isFaulty = providers.some(({ key }) => key?.fault != null)
  return (
    <SettingsGroup title="Providers" description={storage.detail} actions={isFaulty && <ReadAgainButton />}>
      <ul className="divide-y divide-line rounded-card border border-line bg-canvas">
        {providers.map((provider) => (
          <ProviderRow
            key={provider.family}
            provider={provider}
            models={models.filter((it) => it.provider === families[provider.family].provider)}
            onRemove={() => setRemoved(provider)}
          />
        ))}
      </ul>
      <p className="mt-2 text-small text-faint">Prices are in US dollars per million tokens.</p>
      {removed && (
        <ConfirmDialog
          open
          onOpenChange={() => setRemoved(undefined)}
          title={`Remove ${removed.name} key?`}
          description={`Steward deletes the key, and ${removed.name} models stop working. It stays valid at ${removed.name} until you revoke it there.`}
          confirmLabel="Remove key"
          onConfirm={() => remove(removed.family)}
        />
      )}
    </SettingsGroup>
  )
}

/** Shown if the keychain was locked when Steward started. */
function ReadAgainButton() {
  const { readAgain } = useProviderActions()
  const [busy, setBusy] = useState(false)
  const read = async () => {
    setBusy(true)
    try {
      await readAgain()
    } catch (error) {
      notify.failed(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button size="small" icon={RotateCw} busy={busy} onClick={() => void read()}>
      Reload keys
    </Button>
  )
}

type OperatorModelsProps = { models: readonly ListedModel[] | undefined; isPending: boolean }

/** Models of a hosted service, as configured by its operator. */
function OperatorModels({ models, isPending }: OperatorModelsProps) {
  const name = useConnection()?.name ?? 'The service'
  const available = models?.filter((it) => it.available)
  const providers = [...new Set(available?.map(({ provider }) => provider))]
  return (
    <SettingsGroup
      title="Available models"
      description={`The owner of ${name} sets its provider keys. Yours stay on this computer. Prices are in US dollars per million tokens.`}
    >
      {isPending && <SkeletonRows label="Loading models…" rowClassName="h-14" />}
      {available?.length === 0 && (
        <p className="rounded-card border border-line px-3.5 py-6 text-center text-muted">
          No models yet. Ask the owner of the service to configure a provider.
        </p>
      )}
      {available !== undefined && available.length > 0 && (
        <ul className="divide-y divide-line rounded-card border border-line bg-canvas">
          {providers.map((provider) => (
            <li key={provider} aria-label={getProviderTitle(provider)} className="px-3.5 py-3">
              <p className="font-medium text-text">{getProviderTitle(provider)}</p>
              <ModelTable of={getProviderTitle(provider)} models={available.filter((it) => it.provider === provider)} />
            </li>
          ))}
        </ul>
      )}
    </SettingsGroup>
  )
}
