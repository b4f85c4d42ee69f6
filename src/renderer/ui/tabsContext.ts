import { createContext, useContext } from 'react'

type TabsState = { baseId: string; value: string }

export const TabsContext = createContext<TabsState | undefined>(undefined)

export function useTabs(): TabsState {
  const tabs = useContext(TabsContext)
  if (!tabs) throw new Error('A tab must be used within Tabs')
  return tabs
}

export function getTabId({ baseId }: TabsState, id: string): string {
  return `${baseId}tab-${id}`
}

export function getPanelId({ baseId }: TabsState, id: string): string {
  return `${baseId}panel-${id}`
}
