import { ArrowDown, ArrowUp, Ellipsis, OctagonX, Square } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import type { ProcessSignal, SandboxProcess } from '#shared/contract/processes.ts'
import { formatMegabytes, formatPercent } from '../usage/usageFigures.ts'
import type { ProcessColumn, ProcessOrder } from './sortProcesses.ts'

type ProcessTableProps = {
  processes: readonly SandboxProcess[]
  order: ProcessOrder
  onOrder: (column: ProcessColumn) => void
  onSignal: (process: SandboxProcess, signal: ProcessSignal) => void
}

const columns: readonly { id: ProcessColumn; title: string; className: string }[] = [
  { id: 'pid', title: 'PID', className: 'w-11 text-right' },
  { id: 'user', title: 'User', className: 'hidden w-16 text-left @lg:table-cell' },
  { id: 'cpu_percent', title: 'CPU', className: 'w-13 text-right' },
  { id: 'memory_mb', title: 'Memory', className: 'w-17 text-right' },
  { id: 'command', title: 'Command', className: 'text-left' },
]

export function ProcessTable({ processes, order, onOrder, onSignal }: ProcessTableProps) {
  return (
    <div className="@container -mx-1.5 max-h-64 overflow-y-auto">
      <table className="w-full table-fixed border-separate border-spacing-0 text-small">
        <thead>
          <tr>
            {columns.map(({ id, title, className }) => (
              <th
                key={id}
                scope="col"
                aria-sort={order.column === id ? (order.descending ? 'descending' : 'ascending') : 'none'}
                className={joinClassNames('sticky top-0 z-1 bg-canvas p-0 font-normal', className)}
              >
                <SortButton title={title} order={order.column === id ? order : undefined} onPress={() => onOrder(id)} />
              </th>
            ))}
            <th scope="col" className="sticky top-0 z-1 w-7 bg-canvas p-0">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => (
            <ProcessRow key={process.pid} process={process} onSignal={(signal) => onSignal(process, signal)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SortButton({
  title,
  order,
  onPress,
}: {
  title: string
  order: ProcessOrder | undefined
  onPress: () => void
}) {
  const Arrow = order?.descending ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      onClick={onPress}
      className="inline-flex h-6 items-center gap-0.5 rounded-small px-1.5 text-faint hover:bg-hover hover:text-text"
    >
      {order && <Arrow aria-hidden className="size-3" />}
      {title}
    </button>
  )
}

type ProcessRowProps = { process: SandboxProcess; onSignal: (signal: ProcessSignal) => void }

function ProcessRow({ process, onSignal }: ProcessRowProps) {
  const { pid, user, cpu_percent, memory_mb, command, started_at } = process
  return (
    <tr className="group h-6 hover:bg-hover" data-pid={pid}>
      <td className="px-1.5 text-right text-muted tabular-nums">{pid}</td>
      <td className="hidden truncate px-1.5 text-muted @lg:table-cell">{user}</td>
      <td className="px-1.5 text-right tabular-nums">{formatPercent(cpu_percent)}</td>
      <td className="px-1.5 text-right tabular-nums">{formatMegabytes(memory_mb)}</td>
      <td
        className="truncate px-1.5 font-mono text-text"
        title={`${command}\nSince ${new Date(started_at).toLocaleString()}, by ${user}`}
      >
        {command}
      </td>
      <td className="p-0">
        {pid !== 1 && (
          <Menu
            align="end"
            items={[
              { label: 'End process', icon: Square, onSelect: () => onSignal('SIGTERM') },
              { label: 'Kill', icon: OctagonX, tone: 'danger', onSelect: () => onSignal('SIGKILL') },
            ]}
          >
            <IconButton
              label={`Actions for process ${pid}`}
              icon={Ellipsis}
              size="small"
              className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100"
            />
          </Menu>
        )}
      </td>
    </tr>
  )
}
