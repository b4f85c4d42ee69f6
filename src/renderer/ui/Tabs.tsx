import { type ReactNode, useId } from 'react'
import { LayerView } from './Layer.tsx'
import { TabStrip } from './TabStrip.tsx'
import type { TabStripProps } from './tab.ts'
import { getPanelId, getTabId, TabsContext, useTabs } from './tabsContext.ts'

/**
 * Tabs with one tab stop: arrow keys move between tabs, Home and End select the first and last one, F2 renames, Delete
 * closes.
 */
export function Tabs({ children, ...strip }: TabStripProps & { /** `TabPanel` elements */ children: ReactNode }) {
  const baseId = useId()
  return (
    <TabsContext value={{ baseId, value: strip.value }}>
      <div className="flex size-full min-h-0 min-w-0 flex-col">
        <TabStrip {...strip} />
        <div className="relative min-h-0 flex-1">{children}</div>
      </div>
    </TabsContext>
  )
}

type TabPanelProps = {
  id: string
  /** Whether to keep the content mounted while another tab is selected. */
  keepMounted?: boolean
  children: ReactNode
}

export function TabPanel({ id, keepMounted = false, children }: TabPanelProps) {
  const tabs = useTabs()
  const isSelected = tabs.value === id
  return (
    <div
      role="tabpanel"
      id={getPanelId(tabs, id)}
      aria-labelledby={getTabId(tabs, id)}
      inert={!isSelected}
      className={isSelected ? 'absolute inset-0' : 'invisible absolute inset-0'}
    >
      <LayerView visible={isSelected}>{(isSelected || keepMounted) && children}</LayerView>
    </div>
  )
}
