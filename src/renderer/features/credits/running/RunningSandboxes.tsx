import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { RunCost } from '#renderer/ui/sandboxes/RunCost.tsx'
import { approximateCents } from '#renderer/ui/sandboxes/runCost.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'

/** Running sandboxes and their actual or potential cost. */
export function RunningSandboxes({ isEmbedded }: { isEmbedded: boolean }) {
  const { data = [] } = useSandboxes()
  const running = data.filter(({ status, cost }) => status === 'running' && cost !== undefined)
  const isCharged = running.some(({ cost }) => cost?.charged)
  return (
    <Panel title="Running sandboxes" note={running.length === 0 || isCharged ? undefined : describeFreeUse(isEmbedded)}>
      {running.length === 0 ? (
        <NothingYet>No sandbox is running.</NothingYet>
      ) : (
        <table className="w-full border-collapse text-right tabular-nums">
          <thead className="text-small text-faint">
            <tr>
              {['Sandbox', 'Per hour', 'This run'].map((title, place) => (
                <th
                  key={title}
                  scope="col"
                  className={`border-b border-line px-3.5 py-1.5 font-medium whitespace-nowrap ${place === 0 ? 'text-left' : ''}`}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {running.map((sandbox) => (
              <Row key={sandbox.id} sandbox={sandbox} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function Row({ sandbox }: { sandbox: Sandbox }) {
  const { name, cost } = sandbox
  return (
    <tr>
      <th scope="row" className="max-w-0 w-full px-3.5 py-2 text-left font-medium">
        <span className="block truncate">{name}</span>
      </th>
      <td className="px-3.5 whitespace-nowrap text-muted">
        {cost && formatUsdCents(approximateCents(cost.cents_per_hour))}
      </td>
      <td className="px-3.5 whitespace-nowrap">
        <RunCost sandbox={sandbox} />
      </td>
    </tr>
  )
}

function describeFreeUse(isEmbedded: boolean): string {
  return isEmbedded ? 'Not charged on this computer' : 'Not charged by this service'
}
