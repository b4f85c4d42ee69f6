import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { getProviderTitle } from '#shared/contract/families.ts'
import { isChatModel, type ListedModel } from '#shared/contract/inference.ts'
import { NewKeyDialog } from '../keys/NewKeyDialog.tsx'
import { useModels } from '../models/useModels.ts'
import { SettingsCard, SettingsGroup, SettingsPage, SettingsRow } from '../SettingsPage.tsx'
import { SnippetBlock } from './SnippetBlock.tsx'
import {
  buildSnippets,
  type CodingClient,
  codingClients,
  findDefaultModel,
  findSmallModel,
  readKeyLine,
} from './snippets.ts'

export function CodingAgentsSection() {
  const { data, error, isPending, refetch } = useModels()
  return (
    <SettingsPage
      title="Coding agents"
      description="Use Steward’s models in Codex, Claude Code, and anything that supports the OpenAI or Anthropic API. Each program gets its own key, with limits."
    >
      {isPending ? (
        <SkeletonRows label="Loading models…" count={3} rowClassName="h-12" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <Clients models={data.filter(isChatModel)} />
      )}
    </SettingsPage>
  )
}

function Clients({ models }: { models: readonly ListedModel[] }) {
  const [client, setClient] = useState<CodingClient>('codex')
  const [chosen, setChosen] = useState<string>()
  const [isKeyOpen, setKeyOpen] = useState(false)
  const available = models.filter((it) => it.available).map(({ id }) => id)
  const offered = available.length > 0 ? available : models.map(({ id }) => id)
  const model = chosen !== undefined && offered.includes(chosen) ? chosen : (findDefaultModel(client, offered) ?? '')
  const { label, keyName } = codingClients.find(({ id }) => id === client) ?? codingClients[0]
  const { origin } = window.location
  const contextWindow = models.find(({ id }) => id === model)?.context_window ?? 0
  const smallModel = findSmallModel(model, offered)
  const options = models
    .filter(({ id }) => offered.includes(id))
    .map(({ id, provider }) => ({ value: id, label: id, detail: getProviderTitle(provider) }))
  return (
    <>
      <ChoiceChips
        legend="Program"
        value={client}
        onChange={setClient}
        options={codingClients.map(({ id, label }) => ({ value: id, label }))}
      />
      {available.length === 0 && (
        <p role="status" className="rounded-card border border-line bg-panel px-3.5 py-2.5 text-muted">
          No models available yet.{' '}
          <a href={buildAddress('settings', 'models')} className="font-medium text-accent hover:underline">
            Add a provider key or a local server
          </a>
        </p>
      )}
      <SettingsGroup
        title="1. Create a key"
        description="Programs with this key can spend your credits, up to its limit."
      >
        <SettingsCard>
          <SettingsRow label={`Key for ${label}`} hint="You choose its models and its daily limit. It is shown once.">
            <Button icon={Plus} onClick={() => setKeyOpen(true)}>
              New key…
            </Button>
          </SettingsRow>
        </SettingsCard>
        <div className="mt-2 flex flex-col gap-1.5">
          <p className="text-muted">In the shell that runs {label}, enter this line, then paste the key:</p>
          <CopyLine text={readKeyLine} label="Copy line" />
        </div>
      </SettingsGroup>
      <SettingsGroup
        title={`2. Configure ${label}`}
        actions={
          client !== 'environment' && (
            <div className="w-56">
              <Select label="Model" labelHidden value={model} options={options} onChange={setChosen} />
            </div>
          )
        }
      >
        <div className="flex flex-col gap-2">
          {buildSnippets(client, { origin, model, smallModel, contextWindow }).map((snippet) => (
            <SnippetBlock key={snippet.title} snippet={snippet} />
          ))}
          <p className="text-small text-faint">
            Steward must be running. Its address stays the same when it restarts, as long as no other program takes the
            port; <code className="font-mono">app.listen</code> in config.json sets it.
          </p>
        </div>
      </SettingsGroup>
      {isKeyOpen && <NewKeyDialog initialName={keyName} nextLine={readKeyLine} onClose={() => setKeyOpen(false)} />}
    </>
  )
}
