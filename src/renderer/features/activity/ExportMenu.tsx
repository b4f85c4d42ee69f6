import { Download, FileJson, Sheet } from 'lucide-react'
import { buildRequest } from '#shared/contract/route.ts'
import { exportTimeline } from '#shared/contract/timeline.ts'
import { buildWindowAddress } from '../../api/windowLink.ts'
import { Button } from '../../ui/Button.tsx'
import { Menu, type MenuItem } from '../../ui/Menu.tsx'
import { isFiltered, type TimelineQuery } from './filters/timelineFilters.ts'

type Format = 'jsonl' | 'csv'

/** Exports the whole log, or the filtered part. */
export function ExportMenu({ query }: { query: TimelineQuery }) {
  const items: MenuItem[] = [
    { label: 'All, JSON Lines with hashes', icon: FileJson, onSelect: () => download({}, 'jsonl') },
    { label: 'All, CSV', icon: Sheet, onSelect: () => download({}, 'csv') },
    ...(isFiltered(query)
      ? ([
          'separator',
          { label: 'Filtered, JSON Lines', icon: FileJson, onSelect: () => download(query, 'jsonl') },
          { label: 'Filtered, CSV', icon: Sheet, onSelect: () => download(query, 'csv') },
        ] as const)
      : []),
  ]
  return (
    <Menu items={items} align="end">
      <Button size="small" icon={Download}>
        Export
      </Button>
    </Menu>
  )
}

/** The browser's own download. */
function download(query: TimelineQuery, format: Format): void {
  const link = document.createElement('a')
  link.href = buildWindowAddress(buildRequest(exportTimeline, { ...query, format }).path)
  link.download = `steward-activity.${format}`
  link.click()
}
