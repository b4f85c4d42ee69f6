import { formatCosts, type TaskSums } from './describeTask.ts'

export function CostChips({ sums }: { sums: TaskSums }) {
  return (
    <ul aria-label="Cost" className="flex flex-wrap gap-1.5">
      {formatCosts(sums).map((words) => (
        <li key={words} className="rounded-full bg-panel px-2 py-0.5 text-small text-text tabular-nums">
          {words}
        </li>
      ))}
    </ul>
  )
}
