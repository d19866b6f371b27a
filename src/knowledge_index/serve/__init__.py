"""The door for agents: the Model Context Protocol over standard streams and over HTTP."""
