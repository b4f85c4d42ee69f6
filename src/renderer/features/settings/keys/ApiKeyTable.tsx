import { Button } from '#renderer/ui/Button.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { ApiKey } from '#shared/contract/accounts.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatModelCount } from '../models/modelLabels.ts'
import { useModels } from '../models/useModels.ts'
import { findMissingModels } from './missingModels.ts'

type ApiKeyTableProps = {
  keys: readonly ApiKey[]
  /** Id of the window's API key. */
  own: string | undefined
  onRevoke: (key: ApiKey) => void
}

export function ApiKeyTable({ keys, own, onRevoke }: ApiKeyTableProps) {
  return (
    <div className="overflow-x-auto rounded-card border border-line">
      <table className="w-full border-collapse text-left">
        <thead className="border-b border-line bg-panel text-small text-faint">
          <tr>
            {['Name', 'Key', 'Limits', 'Created', 'Last used'].map((title) => (
              <th key={title} scope="col" className="px-3.5 py-1.5 font-medium whitespace-nowrap">
                {title}
              </th>
            ))}
            <th scope="col" className="px-3.5">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {keys.map((key) => (
            <ApiKeyRow key={key.id} apiKey={key} isOwn={key.id === own} onRevoke={() => onRevoke(key)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Allowed models of an API key, and today's usage of its limit. */
function KeyLimits({ apiKey: { models, daily_limit_cents: limit, spent_today_cents: spent } }: { apiKey: ApiKey }) {
  const available = useModels().data?.map(({ id }) => id)
  const missing = findMissingModels(models, available)
  if (models === null && limit === null) return 'None'
  return (
    <>
      {models !== null && (
        <span className="block whitespace-nowrap" title={models.join(', ')}>
          {models.length === 1 ? models[0] : formatModelCount(models.length)}
        </span>
      )}
      {missing.length > 0 && <span className="block text-caution">No longer available: {missing.join(', ')}</span>}
      {limit !== null && (
        <span className="block whitespace-nowrap tabular-nums">
          {formatUsdCents(spent ?? 0)} of {formatUsdCents(limit)} today
        </span>
      )}
    </>
  )
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

type ApiKeyRowProps = { apiKey: ApiKey; isOwn: boolean; onRevoke: () => void }

function ApiKeyRow({ apiKey, isOwn, onRevoke }: ApiKeyRowProps) {
  const { name, key_prefix, created_at, last_used_at } = apiKey
  return (
    <tr>
      <th scope="row" className="max-w-60 px-3.5 py-2 font-medium">
        <span className="block truncate">{name}</span>
        {isOwn && <span className="block text-small font-normal text-faint">Owner key of this window</span>}
      </th>
      <td className="px-3.5 font-mono text-small whitespace-nowrap text-muted">{key_prefix}…</td>
      <td className="px-3.5 py-2 text-small text-muted">
        <KeyLimits apiKey={apiKey} />
      </td>
      <td className="px-3.5 whitespace-nowrap text-muted">
        <time dateTime={created_at} title={new Date(created_at).toLocaleString()}>
          {date.format(new Date(created_at))}
        </time>
      </td>
      <td className="px-3.5 whitespace-nowrap text-muted">
        {last_used_at === null ? 'Never' : <TimeAgo at={last_used_at} />}
      </td>
      <td className="px-2 text-right">
        {!isOwn && (
          <Button size="small" variant="ghost" aria-label={`Revoke ${name}`} onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  )
}
