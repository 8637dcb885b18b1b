"""Small trainings and peers that several chapters share."""
